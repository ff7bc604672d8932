// Where buffers lie: as low as they fit, however many there are.

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "libcore/base/philox.h"
#include "libcore/nn/plan/plan.h"

namespace dl::nn::place_test {

namespace {

// One after the other, each held against all before it.
std::vector<std::int64_t> places_of(const std::vector<PlannedBuffer>& buffers) {
  const auto size = [&](std::size_t i) {
    return (buffers[i].elements + 15) / 16 * 16;
  };
  std::vector<std::size_t> order(buffers.size()), placed;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  std::vector<std::int64_t> offsets(buffers.size());
  for (const std::size_t i : order) {
    for (const std::size_t other : placed) {
      if (buffers[i].first > buffers[other].last ||
          buffers[other].first > buffers[i].last)
        continue;
      if (offsets[i] + size(i) <= offsets[other]) break;
      offsets[i] = std::max(offsets[i], offsets[other] + size(other));
    }
    placed.insert(
        std::ranges::upper_bound(placed, offsets[i], {},
                                 [&](std::size_t p) { return offsets[p]; }),
        i);
  }
  return offsets;
}

// kind 0: as in training a chain; 1: as in predictions; 2: at random.
std::vector<PlannedBuffer> some_buffers(int kind, int count, Philox& random) {
  std::vector<PlannedBuffer> buffers;
  const auto below = [&](int n) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(n)));
  };
  for (int i = 0; i < count; ++i) {
    const int first = kind == 2 ? below(count) : i;
    const int last = kind == 0   ? 2 * count - i
                     : kind == 1 ? i + 1
                                 : first + below(1 + below(count));
    buffers.push_back({below(5) == 0 ? 0 : below(1000), first, last});
  }
  return buffers;
}

}  // namespace

TEST_CASE("buffers lie as low as they fit", "[graph]") {
  Philox random(7, 1);
  for (int kind = 0; kind < 3; ++kind)
    for (const int count : {1, 2, 30, 700, 3000}) {
      INFO(kind << ", " << count);
      const auto buffers = some_buffers(kind, count, random);
      CHECK(place(buffers, 1).offsets == places_of(buffers));
    }
}

TEST_CASE("many thousands of buffers have their places soon", "[graph]") {
  Philox random(7, 2);
  const auto buffers = some_buffers(0, 100'000, random);
  std::int64_t all = 0;
  for (const PlannedBuffer& buffer : buffers)
    all += (buffer.elements + 15) / 16 * 16;
  CHECK(place(buffers, 1).elements == all);  // all are in use at once
}

}  // namespace dl::nn::place_test
