#include "libcore/cluster/master/epoch/averaging/slot_owners.h"

#include <catch2/catch.hpp>

namespace dl::cluster::slot_owners_test {

TEST_CASE("slots stay with their workers as long as these are there") {
  SlotOwners slots;
  slots.assign(3, {7, 9}, {}, true);
  CHECK(slots.owner(0) == 7);
  CHECK(slots.owner(1) == 9);
  CHECK(slots.owner(2) == 7);
  CHECK(slots.owner(3) == 0);
  slots.learnt(0, 7, 4);
  slots.learnt(1, 7, 4);  // not its slot
  CHECK(slots.history(0, 7, 6) == 4);
  CHECK(slots.history(0, 9, 6) == 0);
  CHECK(slots.history(1, 9, 6) == 0);

  slots.assign(3, {7, 9}, {}, true);
  CHECK(slots.history(0, 7, 6) == 4);
  CHECK(slots.lost() == 0);

  // A newcomer takes what is more than a share, and only between rounds.
  slots.learnt(2, 7, 4);
  slots.assign(3, {7, 9, 12}, {}, false);
  CHECK(slots.owner(2) == 7);
  slots.assign(3, {7, 9, 12}, {}, true);
  CHECK(slots.owner(0) == 7);
  CHECK(slots.owner(2) == 12);
  CHECK(slots.history(2, 12, 6) == 0);
  CHECK(slots.lost() == 1);
}

TEST_CASE("what a worker had is lost with it") {
  SlotOwners slots;
  slots.assign(2, {1, 2}, {}, true);
  slots.learnt(0, 1, 5);
  slots.learnt(1, 2, 5);
  slots.assign(2, {2}, {}, false);
  CHECK(slots.owner(0) == 2);
  CHECK(slots.history(0, 2, 6) == 0);
  CHECK(slots.history(1, 2, 6) == 5);
  CHECK(slots.lost() == 1);

  slots.forget(1, 2);
  CHECK(slots.owner(1) == 2);
  CHECK(slots.history(1, 2, 6) == 0);
  slots.forget(1, 2);  // nothing left to lose
  CHECK(slots.lost() == 2);
  slots.forget(2);
  CHECK(slots.owner(0) == 0);
  CHECK(slots.lost() == 2);
  slots.assign(2, {}, {}, false);
  CHECK(slots.owner(0) == 0);
}

TEST_CASE("a slot that had the next round already begins this one afresh") {
  SlotOwners slots;
  slots.assign(1, {1}, {}, true);
  slots.learnt(0, 1, 6);  // another worker had round 5, and is gone
  CHECK(slots.history(0, 1, 5) == 0);
  CHECK(slots.history(0, 1, 7) == 6);
  CHECK(slots.lost() == 0);
  slots.learnt(0, 1, 5);
  CHECK(slots.history(0, 1, 7) == 5);
  CHECK(slots.lost() == 1);
}

TEST_CASE("who is away keeps its slots for a moment and gets no others") {
  SlotOwners slots;
  slots.assign(4, {1, 2}, {}, true);  // 1 2 1 2
  for (std::size_t s = 0; s < 4; ++s) slots.learnt(s, slots.owner(s), 5);
  slots.forget(1);
  slots.assign(4, {}, {2}, false);  // nobody is there
  CHECK(slots.owner(0) == 0);
  slots.assign(4, {3}, {2}, true);
  CHECK(slots.owner(0) == 3);
  CHECK(slots.owner(2) == 3);
  CHECK(slots.history(1, 2, 6) == 5);
  CHECK(slots.history(3, 2, 6) == 5);
}

TEST_CASE("a slot changes places with one of another worker") {
  SlotOwners slots;
  slots.assign(4, {1, 2}, {}, true);  // 1 2 1 2
  for (std::size_t s = 0; s < 4; ++s) slots.learnt(s, slots.owner(s), 3);
  slots.swap_owner(2);
  CHECK(slots.owner(2) == 2);
  CHECK(slots.owner(3) == 1);
  CHECK(slots.history(2, 2, 6) == 0);
  CHECK(slots.history(3, 1, 6) == 0);
  CHECK(slots.history(0, 1, 6) == 3);
  CHECK(slots.lost() == 2);
  SlotOwners alone;
  alone.assign(2, {1}, {}, true);
  alone.swap_owner(0);
  CHECK(alone.owner(0) == 1);
}

TEST_CASE("a short round takes nothing from those that are left out") {
  SlotOwners slots;
  slots.assign(4, {1, 2, 3, 4}, {}, true);
  for (std::size_t s = 0; s < 4; ++s) slots.learnt(s, s + 1, 3);
  slots.assign(2, {1, 2, 3, 4}, {}, true);
  slots.assign(4, {1, 2, 3, 4}, {}, true);
  CHECK(slots.history(3, 4, 6) == 3);
  CHECK(slots.lost() == 0);
}

}  // namespace dl::cluster::slot_owners_test
