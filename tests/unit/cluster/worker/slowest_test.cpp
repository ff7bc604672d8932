#include "libcore/cluster/worker/slowest.h"

#include <catch2/catch.hpp>
#include <vector>

namespace dl::cluster::slowest_test {

TEST_CASE("one worker takes the mean, and many what is the longest") {
  const std::vector<double> times = {3, 1, 1, 1};
  const Slowest slowest = slowest_of(times);
  CHECK(slowest[0] == Approx(1.5));
  // With two workers, none has a long time in 9 of 16 cases; of four in 81 of
  // 256.
  CHECK(slowest[1] == Approx((9 * 1 + 7 * 3) / 16.0));
  CHECK(slowest[2] == Approx((81 * 1 + 175 * 3) / 256.0));
  CHECK(slowest[7] == Approx(3));
  CHECK(slowest_of(std::vector<double>{2.5})[7] == Approx(2.5));
}

TEST_CASE("long and short mini-batches make up for each other in a round") {
  const std::vector<double> times = {1, 3, 1, 3, 1, 3, 1, 3};
  CHECK(slowest_of(times)[7] == Approx(3));
  CHECK(slowest_round_of(times, 1) == slowest_of(times));
  for (const double round : slowest_round_of(times, 2))
    CHECK(round == Approx(4));
  // With 3 times: half are 1 3 1, the others 3 1 3.
  const Slowest three = slowest_round_of(times, 3);
  CHECK(three[0] == Approx(6));
  CHECK(three[1] == Approx(0.25 * 5 + 0.75 * 7));
}

TEST_CASE("a round longer than what was measured is like half of that") {
  const std::vector<double> times = {1, 3, 1, 3};
  for (const double round : slowest_round_of(times, 50))
    CHECK(round == Approx(100));
  CHECK(slowest_round_of(std::vector<double>{2}, 5)[3] == Approx(10));
}

}  // namespace dl::cluster::slowest_test
