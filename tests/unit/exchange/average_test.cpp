// Averages do not depend on the order of arrival, and refuse bad replicas.

#include "libcore/exchange/average.h"

#include <catch2/catch.hpp>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"

using namespace dl;
using namespace dl::exchange;

TEST_CASE("the same bits in whatever order replicas arrive") {
  constexpr std::size_t kSlots = 7, kElements = 2500;
  Philox random(3, 0);
  std::vector<std::vector<float>> replicas(kSlots);
  for (auto& replica : replicas)
    for (std::size_t i = 0; i < kElements; ++i)
      replica.push_back(static_cast<float>(random.normal()));
  std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5, 6};
  std::vector<float> first;
  for (int round = 0; round < 20; ++round) {
    Average average(kSlots, kElements);
    for (std::size_t slot : order) {
      CHECK_FALSE(average.complete());
      average.put(slot, replicas[slot], static_cast<double>(slot + 1));
    }
    REQUIRE(average.complete());
    std::vector<float> result = average.result();
    if (first.empty()) first = result;
    REQUIRE(result == first);
    shuffle(std::span(order), random);
  }
  double sum = 0;
  for (std::size_t s = 0; s < kSlots; ++s)
    sum += static_cast<double>(s + 1) * static_cast<double>(replicas[s][2400]);
  CHECK(first[2400] == static_cast<float>(sum / 28));
}

TEST_CASE("weights count, weight 0 may come without values") {
  Average average(3, 2);
  average.put(1, {1, 10}, 1);
  average.put(0, {}, 0);
  average.put(2, {4, 40}, 2);
  CHECK(average.result() == std::vector<float>{3, 30});
}

TEST_CASE("one replica is its own average, bit for bit") {
  Philox random(4, 0);
  std::vector<float> replica;
  for (int i = 0; i < 5000; ++i)
    replica.push_back(static_cast<float>(random.normal()));
  Average average(1, replica.size());
  average.put(0, replica, 60'000);
  CHECK(average.result() == replica);
}

TEST_CASE("a bad replica leaves its slot open for another") {
  Average average(2, 3);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  CHECK_THROWS_AS(average.put(0, {1, 2}, 1), Error);
  CHECK_THROWS_AS(average.put(0, {1, nan, 2}, 1), Error);
  CHECK_THROWS_WITH(average.put(0, {inf, 2, -inf}, 1),
                    "a replica has 2 non-finite values");
  CHECK_THROWS_AS(average.put(0, {1, 2, 3}, -1), Error);
  CHECK_THROWS_AS(average.put(0, {1, 2, 3}, static_cast<double>(nan)), Error);
  average.put(0, {1, 2, 3}, 1);
  CHECK_THROWS_AS(average.put(0, {1, 2, 3}, 1), Error);
  CHECK_THROWS_AS(average.put(2, {1, 2, 3}, 1), Error);
  CHECK_THROWS_AS(average.result(), Error);
  average.put(1, {3, 2, 1}, 1);
  CHECK(average.result() == std::vector<float>{2, 2, 2});
}

TEST_CASE("no weight at all is no average") {
  Average average(1, 1);
  average.put(0, {5}, 0);
  CHECK_THROWS_AS(average.result(), Error);
}
