// Tests of libcore/base/parallel.h.

#include "libcore/base/parallel.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

namespace dl::parallel_test {

TEST_CASE("every body runs once, on every run") {
  ThreadTeam team(3);
  std::vector<int> counts(3);
  std::function<void(int)> body = [&](int i) {
    ++counts[static_cast<std::size_t>(i)];
  };
  for (int run = 0; run < 100; ++run) team.run(body);
  for (int count : counts) CHECK(count == 100);
}

TEST_CASE("barrier separates phases") {
  ThreadTeam team(4);
  std::atomic<int> arrived = 0;
  std::atomic<bool> early = false;
  team.run([&](int) {
    ++arrived;
    team.barrier();
    if (arrived != 4) early = true;
  });
  CHECK_FALSE(early);
}

TEST_CASE("an exception reaches the caller and the team lives on") {
  ThreadTeam team(2);
  CHECK_THROWS_AS(team.run([](int i) {
    if (i == 1) throw std::runtime_error("x");
  }),
                  std::runtime_error);
  int runs = 0;
  team.run([&](int i) {
    if (i == 0) ++runs;
  });
  CHECK(runs == 1);
}

TEST_CASE("a team of one runs in place") {
  ThreadTeam team(1);
  int runs = 0;
  team.run([&](int) { ++runs; });
  CHECK(runs == 1);
  CHECK(dl::available_cores() >= 1);
}

}  // namespace dl::parallel_test
