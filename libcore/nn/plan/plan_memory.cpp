// Buffers in one piece of memory: the largest first, each at the lowest place
// that is free as long as it is in use.

#include <algorithm>
#include <numeric>

#include "libcore/nn/plan/plan.h"

namespace dl::nn {
namespace {

constexpr std::int64_t kAlignment = 16;  // reals: 64 bytes of float32

}  // namespace

Places place(std::span<const PlannedBuffer> buffers, std::int64_t examples,
             std::int64_t whole) {
  const std::int64_t alignment = kAlignment * whole;
  const auto size = [&](std::size_t i) {
    const std::int64_t n =
        buffers[i].elements * examples * (buffers[i].whole ? whole : 1);
    return (n + alignment - 1) / alignment * alignment;
  };
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return size(a) > size(b); });

  Places places{std::vector<std::int64_t>(buffers.size()), 0};
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t i : order) {
    std::int64_t at = 0;
    for (const std::size_t other : placed) {
      const bool meet = buffers[i].first <= buffers[other].last &&
                        buffers[other].first <= buffers[i].last;
      if (!meet) continue;
      if (at + size(i) <= places.offsets[other]) break;
      at = std::max(at, places.offsets[other] + size(other));
    }
    places.offsets[i] = at;
    places.elements = std::max(places.elements, at + size(i));
    placed.insert(
        std::ranges::upper_bound(
            placed, at, {}, [&](std::size_t p) { return places.offsets[p]; }),
        i);
  }
  return places;
}

}  // namespace dl::nn
