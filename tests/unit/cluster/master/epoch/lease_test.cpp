#include "libcore/cluster/master/epoch/lease.h"

#include <catch2/catch.hpp>
#include <set>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"

namespace dl::cluster::lease_test {

TEST_CASE("leases are granted in order and committed once") {
  std::uint64_t next = 7;
  LeaseTable table(10, next);
  const auto a = table.grant(1, 4);
  const auto b = table.grant(2, 4);
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->id == 7);
  CHECK(a->fence == 1);
  CHECK(a->first == 0);
  CHECK(a->count == 4);
  CHECK(b->first == 4);
  CHECK(table.free() == 2);

  CHECK(table.commit(a->id, a->fence, 0, 2));
  CHECK_FALSE(table.commit(a->id, a->fence, 1, 1));  // again
  CHECK_FALSE(table.commit(a->id, a->fence, 3, 2));  // beyond its end
  CHECK_FALSE(table.commit(a->id, a->fence, 4, 1));  // another's
  CHECK_FALSE(table.commit(a->id, a->fence + 1, 2, 1));
  CHECK_FALSE(table.commit(99, 1, 2, 1));
  CHECK_FALSE(table.commit(a->id, a->fence, 2, 0));
  CHECK(table.committed() == 2);
  CHECK(table.find(a->id, a->fence)->committed == 2);
}

TEST_CASE(
    "what a lease leaves is granted again, first and with a higher fence") {
  std::uint64_t next = 1;
  LeaseTable table(8, next);
  const Lease a = *table.grant(1, 4);
  REQUIRE(table.commit(a.id, a.fence, 0, 1));
  table.finish(a.id, true);
  CHECK_FALSE(table.commit(a.id, a.fence, 1, 1));  // late

  const Lease b = *table.grant(2, 8);
  CHECK(b.first == 1);
  CHECK(b.count == 7);
  CHECK(b.fence == 2);
  CHECK_FALSE(a.careful);
  CHECK(b.careful);  // a worker was lost over it
  CHECK_FALSE(table.grant(3, 1));
  REQUIRE(table.commit(b.id, b.fence, 1, 7));
  CHECK(table.complete());
  table.finish(b.id);
  CHECK(table.complete());
  CHECK(table.leases().empty());
}

TEST_CASE("a stretch is granted whole or not at all") {
  std::uint64_t next = 1;
  LeaseTable table(10, next);
  CHECK(table.any_free(6, 1));
  const Lease lease = *table.grant_at(1, 4, 4);
  CHECK(lease.first == 4);
  CHECK(lease.count == 4);
  CHECK_FALSE(table.any_free(4, 4));
  CHECK_FALSE(table.grant_at(2, 2, 3));
  CHECK(table.grant(2, 9)->count == 4);
  table.finish(lease.id);
  const Lease again = *table.grant_at(2, 4, 4);
  CHECK(again.fence > lease.fence);
  CHECK(again.id != lease.id);
}

TEST_CASE("what is passed over is granted to nobody, and the rest is whole") {
  std::uint64_t next = 1;
  LeaseTable table(10, next);
  table.condemn(1);
  const Lease lease = *table.grant_at(1, 0, 4);
  CHECK(lease.count == 4);
  CHECK(lease.work == 3);
  CHECK(table.left_of(1) == 3);
  table.condemn(2);  // it is leased, and may be committed yet
  CHECK_FALSE(table.is_passed_over(2));
  CHECK(table.grant(2, 9)->first == 4);
  table.finish(lease.id);
  CHECK(table.is_passed_over(2));
  CHECK(table.grant(3, 9)->count == 1);  // mini-batch 0 alone

  LeaseTable whole(4, next);
  whole.condemn(3);
  const Lease all = *whole.grant_at(1, 0, 4);
  REQUIRE(whole.commit(all.id, all.fence, 0, 4));
  CHECK_FALSE(whole.commit(all.id, all.fence, 0, 4));
  CHECK(whole.complete());
  CHECK(whole.committed() == 3);
  CHECK(whole.left_of(1) == 0);
  CHECK(whole.committed_ranges() == Ranges{{0, 3}});
  CHECK(whole.passed_over_ranges() == Ranges{{3, 1}});
  CHECK(whole.prefix() == 4);
  LeaseTable none(2, next);
  none.condemn(0);
  CHECK_FALSE(none.grant_at(1, 0, 1));  // nothing is left of it
}

TEST_CASE("committed ranges survive a checkpoint") {
  std::uint64_t next = 1;
  LeaseTable table(10, next);
  const Ranges ranges = {{0, 2}, {5, 3}};
  table.restore(ranges);
  CHECK(table.committed() == 5);
  CHECK(table.committed_ranges() == ranges);
  CHECK(table.grant(1, 100)->first == 2);
  CHECK(table.grant(1, 100)->first == 8);
  CHECK_FALSE(table.grant(1, 100));

  LeaseTable other(10, next);
  CHECK_THROWS_AS(other.restore({{8, 3}}), dl::Error);
  CHECK_THROWS_AS(other.restore({{-1, 1}}), dl::Error);
  CHECK_THROWS_AS(other.restore({{0, 2}, {1, 1}}), dl::Error);
}

// Workers that die, fall silent, and come back late, at random: each
// mini-batch is committed exactly once, and a fence never goes back.
TEST_CASE("every mini-batch is committed exactly once whatever happens") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Philox random(seed, 1);
    const auto batches = static_cast<std::int64_t>(1 + random.below(60));
    std::uint64_t next = 1;
    LeaseTable table(batches, next);
    std::vector<int> commits(static_cast<std::size_t>(batches));
    std::vector<std::uint64_t> fences(static_cast<std::size_t>(batches));
    std::vector<Lease> issued;  // all that were ever granted
    std::set<std::uint64_t> ids;
    for (int step = 0; !table.complete(); ++step) {
      REQUIRE(step < 100000);
      const std::uint64_t what = random.below(10);
      if (what < 3) {
        const auto lease = table.grant(
            random.below(4), static_cast<std::int64_t>(1 + random.below(7)));
        if (!lease) continue;
        CHECK(ids.insert(lease->id).second);
        for (std::int64_t i = lease->first; i < lease->first + lease->count;
             ++i) {
          auto& fence = fences[static_cast<std::size_t>(i)];
          CHECK(lease->fence > fence);
          fence = lease->fence;
        }
        issued.push_back(*lease);
      } else if (what < 8 && !issued.empty()) {
        // A report, perhaps late, perhaps repeated.
        const Lease& lease = issued[random.below(issued.size())];
        const auto at =
            lease.first + static_cast<std::int64_t>(random.below(
                              static_cast<std::uint64_t>(lease.count)));
        if (table.commit(lease.id, lease.fence, at, 1))
          ++commits[static_cast<std::size_t>(at)];
      } else if (!issued.empty()) {
        const Lease& lease = issued[random.below(issued.size())];
        if (what == 8)
          table.finish(lease.id, true);
        else
          for (const Lease& held : table.of(lease.worker))
            table.finish(held.id);
      }
      const std::uint64_t worker = random.below(4);
      std::int64_t left = 0;
      for (const Lease& held : table.of(worker)) {
        CHECK(held.worker == worker);
        left += held.count - held.committed;
      }
      CHECK(table.left_of(worker) == left);
      CHECK(table.held_by(worker) == table.of(worker).size());
    }
    for (const int n : commits) CHECK(n == 1);
    CHECK(table.committed_ranges() == Ranges{{0, batches}});
  }
}

TEST_CASE("of a lease and its copy either may commit, once") {
  std::uint64_t next = 1;
  LeaseTable table(10, next);
  const auto a = table.grant(1, 6);
  CHECK(table.commit(a->id, a->fence, 0, 2));
  CHECK_FALSE(table.copy(a->id, 1));  // its own
  const auto b = table.copy(a->id, 2);
  REQUIRE(b);
  CHECK(b->first == 2);
  CHECK(b->count == 4);
  CHECK(b->fence > a->fence);
  CHECK(b->twin == a->id);
  CHECK(table.find(a->id, a->fence)->twin == b->id);
  CHECK_FALSE(table.copy(a->id, 3));  // there is one
  CHECK_FALSE(table.copy(b->id, 3));
  CHECK(table.leased() == 4);
  CHECK(table.free() == 4);
  CHECK(table.commit(b->id, b->fence, 2, 1));
  CHECK_FALSE(table.holds(a->id, a->fence, 2, 1));
  CHECK(table.commit(a->id, a->fence, 3, 1));
  CHECK(table.leased() == 2);

  SECTION("what one leaves, the other has") {
    const bool original = GENERATE(true, false);
    table.finish(original ? a->id : b->id);
    CHECK(table.leased() == 2);
    CHECK(table.left_of(1) + table.left_of(2) == 3);
    const Lease left = table.leases().begin()->second;
    CHECK(left.twin == 0);
    CHECK(table.copy(left.id, 3));
  }
  SECTION("what both leave is free") {
    table.finish(a->id);
    table.finish(b->id, true);
    CHECK(table.leased() == 0);
    CHECK(table.left_of(1) + table.left_of(2) == 0);
    CHECK(table.free() == 6);
    const auto again = table.grant(3, 10);
    CHECK(again->first == 4);
    CHECK(again->fence > b->fence);
    CHECK(again->careful);
  }
}

}  // namespace dl::cluster::lease_test
