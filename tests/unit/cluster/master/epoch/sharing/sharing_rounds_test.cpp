#include "libcore/cluster/master/epoch/sharing/sharing_rounds.h"

#include <catch2/catch.hpp>

namespace dl::cluster::sharing_rounds_test {

namespace {

Update update_of(const Lease& lease) {
  Update update;
  update.lease = lease.id;
  update.fence = lease.fence;
  update.batch = lease.first;
  return update;
}

}  // namespace

TEST_CASE("a bound lets rounds begin") {
  std::vector<std::uint64_t> owners;
  const SharingRounds two(2, 4, owners);
  CHECK(two.limit(0) == 12);  // rounds 0, 1 and 2
  CHECK(two.limit(3) == 12);
  CHECK(two.limit(4) == 16);
  CHECK_FALSE(two.synchronous());
  CHECK(SharingRounds(0, 4, owners).limit(7) == 8);
}

TEST_CASE("slots stick to workers that live") {
  std::vector<std::uint64_t> owners;
  SharingRounds rounds(0, 4, owners);
  rounds.assign({1, 2});
  CHECK(rounds.owner(0) == 1);
  CHECK(rounds.owner(1) == 2);
  CHECK(rounds.owner(6) == 1);
  CHECK(rounds.owner(7) == 2);
  rounds.assign({2});  // 1 died
  for (int b = 0; b < 4; ++b) CHECK(rounds.owner(b) == 2);
  rounds.assign({2, 3});  // a new one takes one of them
  int kept = 0;
  for (int b = 0; b < 4; ++b) kept += rounds.owner(b) == 2;
  CHECK(kept == 3);
  rounds.assign({2, 3, 4, 5});
  CHECK((rounds.owner(0) != rounds.owner(1) &&
         rounds.owner(2) != rounds.owner(3)));
  rounds.assign({2, 3, 4, 5, 6});  // more than slots
  CHECK(rounds.owner(0) != 6);
}

TEST_CASE("a round is complete when all of it is there") {
  std::uint64_t next = 1;
  LeaseTable table(5, next);
  std::vector<std::uint64_t> owners;
  SharingRounds rounds(0, 2, owners);
  const Lease one = *table.grant_at(1, 1, 1);
  const Lease zero = *table.grant_at(2, 0, 1);
  CHECK_FALSE(table.grant_at(2, 0, 1));
  rounds.hold(1, update_of(one));
  CHECK(rounds.held_by(1) == 1);
  CHECK(rounds.complete(table).empty());
  rounds.hold(2, update_of(zero));
  CHECK(rounds.mark_done(one.id));
  CHECK_FALSE(rounds.mark_done(77));
  const auto round = rounds.complete(table);
  REQUIRE(round.size() == 2);
  CHECK(round[0].update.batch == 0);
  CHECK(round[1].done);
  for (const auto& held : round)
    CHECK(table.commit(held.update.lease, held.update.fence, held.update.batch,
                       1));
  CHECK(table.prefix() == 2);
  // An update whose lease has ended is done again by another.
  const Lease two = *table.grant_at(1, 2, 1);
  const Lease three = *table.grant_at(2, 3, 1);
  rounds.hold(1, update_of(two));
  table.finish(two.id, true);
  rounds.hold(2, update_of(three));
  CHECK(rounds.complete(table).empty());
  CHECK(rounds.held_by(1) == 0);
  const Lease again = *table.grant_at(2, 2, 1);
  rounds.hold(2, update_of(again));
  CHECK(rounds.complete(table).size() == 2);
}

}  // namespace dl::cluster::sharing_rounds_test
