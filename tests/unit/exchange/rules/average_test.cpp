// Averages do not depend on the order of arrival, nor on who sums which groups,
// and refuse bad replicas.

#include "libcore/exchange/rules/average.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"

namespace dl::exchange::average_test {

namespace {

struct Replica {
  std::vector<float> values;
  double weight = 0;
};

// Some of them have no weight, and some of these no values.
std::vector<Replica> replicas_of(std::size_t slots, std::size_t elements,
                                 Philox& random) {
  std::vector<Replica> replicas(slots);
  for (Replica& replica : replicas) {
    const bool counts = random.below(4) > 0;
    if (counts) replica.weight = 100 * random.uniform() + 0.01;
    if (!counts && random.below(2) == 0) continue;
    for (std::size_t i = 0; i < elements; ++i)
      replica.values.push_back(static_cast<float>(random.normal()));
  }
  replicas.back().values.resize(elements, 1);
  replicas.back().weight = 1;
  return replicas;
}

// Puts the group of `size` slots at `first`, as far as there are so many:
// whole, as another one's sum; or each of its groups the same way.  `pick` says
// which.
template <typename Pick>
void put_group(Average& to, std::span<const Replica> replicas,
               std::size_t first, std::size_t size, const Pick& pick) {
  const std::size_t count = std::min(size, replicas.size());
  if (size == 1) return to.put(first, replicas[0].values, replicas[0].weight);
  const bool sum = pick();
  Average other(count, sum ? 3000 : 0);
  const std::size_t step = size / kAverageGroup;
  for (std::size_t at = 0; at < count; at += step)
    put_group(sum ? other : to, replicas.subspan(at), sum ? at : first + at,
              step, pick);
  if (sum) to.put_sum(first, count, other.sum());
}

// As put_group(), but of all slots, which are no group.
template <typename Pick>
Average average_of(std::span<const Replica> replicas, const Pick& pick) {
  Average average(replicas.size(), 3000);
  std::size_t step = 1;
  while (step * kAverageGroup < replicas.size()) step *= kAverageGroup;
  for (std::size_t at = 0; at < replicas.size(); at += step)
    put_group(average, replicas.subspan(at), at, step, pick);
  REQUIRE(average.complete());
  return average;
}

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float v : values) bits.push_back(std::bit_cast<std::uint32_t>(v));
  return bits;
}

}  // namespace

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

TEST_CASE("the same bits whoever sums which groups") {
  constexpr std::size_t kElements = 3000;
  Philox random(5, 0);
  for (const std::size_t slots : {1U, 7U, 8U, 9U, 20U, 64U, 65U, 130U}) {
    INFO(slots);
    std::vector<Replica> replicas = replicas_of(slots, kElements, random);
    // A group without any weight.
    if (slots > 16)
      for (std::size_t i = 8; i < 16; ++i) replicas[i] = {};
    const Average alone = average_of(replicas, [] { return false; });
    const auto result = bits_of(alone.result());
    const WeightedSum sum = alone.sum();
    const auto same = [&](const Average& average) {
      REQUIRE(bits_of(average.result()) == result);
      const WeightedSum other = average.sum();
      REQUIRE(bits_of(other.values) == bits_of(sum.values));
      REQUIRE(other.weight == sum.weight);
    };
    same(average_of(replicas, [] { return true; }));
    for (int round = 0; round < 8; ++round)
      same(average_of(replicas, [&] { return random.below(2) == 0; }));
    for (const std::size_t i : {0U, 1023U, 1024U, 2999U}) {
      double want = 0, weights = 0;
      for (const Replica& replica : replicas) {
        weights += replica.weight;
        if (replica.weight > 0)
          want += replica.weight * static_cast<double>(replica.values[i]);
      }
      CHECK(std::bit_cast<float>(result[i]) ==
            Approx(want / weights).margin(1e-6));
      CHECK(sum.values[i] == Approx(want).margin(1e-4 * weights));
    }
  }
}

TEST_CASE("sums of groups are rounded to float, a few slots are not") {
  // 2^24 + 1 is no float.
  const auto big = std::ldexp(1.0F, 24);
  Average few(3, 1), many(9, 1);
  few.put(0, {big}, 1);
  few.put(1, {1}, 1);
  few.put(2, {-big}, 1);
  CHECK(few.result()[0] == static_cast<float>(1.0 / 3));
  many.put(0, {big}, 1);
  many.put(1, {1}, 1);
  for (std::size_t slot = 2; slot < 8; ++slot) many.put(slot, {}, 0);
  many.put(8, {-big}, 1);
  CHECK(many.result()[0] == 0);
}

TEST_CASE("a sum of no weight has no values, and counts as put") {
  Average none(2, 1), average(9, 1);
  none.put(0, {}, 0);
  none.put(1, {7}, 0);
  CHECK(none.sum().values.empty());
  CHECK(none.sum().weight == 0);
  average.put_sum(0, 8, {{3}, 0});
  average.put_sum(8, 1, {{6}, 2});
  REQUIRE(average.complete());
  CHECK(average.result() == std::vector<float>{3});
}

TEST_CASE("sums of what is no group, or was put, are a bug") {
  const auto is_bug = [](const auto& act) {
    try {
      act();
    } catch (const Error& error) {
      return error.code() == Code::kBug;
    }
    return false;
  };
  const WeightedSum sum{{1}, 1};
  for (const std::size_t slots : {1U, 5U, 8U, 64U}) {
    Average average(slots, 1);
    CHECK(is_bug([&] { (void)average.sum(); }));
    average.put_sum(0, slots, sum);
    CHECK(average.sum().values == sum.values);
    CHECK(is_bug([&] { (void)average.result(); }));
  }
  Average average(84, 1);
  const auto bad = [&](std::size_t first, std::size_t count) {
    return is_bug([&] { average.put_sum(first, count, sum); });
  };
  CHECK(bad(0, 0));
  CHECK(bad(0, 1));
  CHECK(bad(0, 7));
  CHECK(bad(4, 8));
  CHECK(bad(8, 64));
  CHECK(bad(80, 3));
  CHECK(bad(80, 8));
  CHECK(bad(64, 19));
  CHECK(bad(84, 0));
  CHECK(bad(88, 8));
  CHECK(bad(0, SIZE_MAX));
  average.put(3, {1}, 1);
  CHECK(bad(0, 8));
  CHECK(bad(0, 64));
  average.put_sum(8, 8, sum);
  CHECK(bad(8, 8));
  CHECK(is_bug([&] { average.put(8, {1}, 1); }));
  CHECK(is_bug([&] { average.put(15, {1}, 1); }));
  average.put_sum(64, 20, sum);
  CHECK(bad(80, 4));
  CHECK_FALSE(average.complete());
  CHECK(is_bug([&] { (void)average.sum(); }));
}

TEST_CASE("a bad sum leaves its slots open") {
  const float inf = std::numeric_limits<float>::infinity();
  Average average(9, 2);
  const auto refused = [&](WeightedSum sum) {
    try {
      average.put_sum(0, 8, std::move(sum));
    } catch (const Error& error) {
      return error.code() == Code::kProtocol;
    }
    return false;
  };
  CHECK(refused({{1}, 1}));
  CHECK(refused({{}, 1}));
  CHECK(refused({{1, inf}, 1}));
  CHECK(refused({{1, NAN}, 1}));
  CHECK(refused({{1, 2}, -1}));
  CHECK(refused({{1, 2}, NAN}));
  CHECK(refused({{1, 2}, HUGE_VAL}));
  average.put_sum(0, 8, {{1, 2}, 1});
  average.put(8, {3, 4}, 1);
  CHECK(average.result() == std::vector<float>{2, 3});
}

}  // namespace dl::exchange::average_test
