// Tests of libcore/base/philox.h.

#include "libcore/base/philox.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

namespace dl::philox_test {

// Random123's published known-answer vectors.
TEST_CASE("philox matches the known answers") {
  using Words = std::array<std::uint32_t, 4>;
  CHECK(philox(0, 0, 0) ==
        Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  std::uint64_t ones = ~std::uint64_t{0};
  CHECK(philox(ones, ones, ones) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("streams are repeatable and differ") {
  Philox a(7, 1), b(7, 1), c(7, 2);
  CHECK(a.next64() == b.next64());
  CHECK(a.next64() != c.next64());
}

TEST_CASE("below is in range and covers it") {
  Philox random(1, 1);
  std::vector<int> seen(7);
  for (int i = 0; i < 700; ++i) ++seen.at(random.below(7));
  for (int count : seen) CHECK(count > 50);
}

TEST_CASE("normal has mean 0 and variance 1") {
  Philox random(3, 0);
  double sum = 0, squares = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    double x = random.normal();
    sum += x;
    squares += x * x;
  }
  CHECK(sum / kDraws == Approx(0).margin(0.03));
  CHECK(squares / kDraws == Approx(1).margin(0.05));
}

TEST_CASE("shuffle permutes") {
  std::vector<int> items(100), sorted;
  std::iota(items.begin(), items.end(), 0);
  Philox random(5, 0);
  shuffle(std::span<int>(items), random);
  sorted = items;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted != items);
  for (int i = 0; i < 100; ++i) CHECK(sorted[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("mix depends on order and count") {
  CHECK(mix({1, 2}) != mix({2, 1}));
  CHECK(mix({1}) != mix({1, 0}));
}

}  // namespace dl::philox_test
