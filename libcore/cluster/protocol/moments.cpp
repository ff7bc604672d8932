#include "libcore/cluster/protocol/moments.h"

#include <algorithm>
#include <cstring>

namespace dl::cluster {

namespace {

// Sums in float32 of so many values at a time lose nothing that counts.
constexpr std::size_t kBlock = 1024;
// As many values as are added at once: those of a register of SSE.
constexpr std::size_t kLanes = 4;
using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;

struct Sums {
  double sum = 0, squares = 0;
  float low = 0, high = 0;
  void take(float x) {
    sum += static_cast<double>(x);
    squares += static_cast<double>(x) * static_cast<double>(x);
    low = std::min(low, x);
    high = std::max(high, x);
  }
};

// In float64, one by one.
Sums slow_sums_of(std::span<const float> block) {
  Sums all{0, 0, block[0], block[0]};
  for (const float x : block) all.take(x);
  return all;
}

struct Partial {
  Lanes sum{}, squares{}, low, high;
  void take(const float* values) {
    Lanes x;
    std::memcpy(&x, values, sizeof x);
    sum += x;
    squares += x * x;
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
};

Sums sums_of(std::span<const float> block) {
  Sums all{0, 0, block[0], block[0]};
  const Lanes first = Lanes{} + block[0];
  Partial a{.low = first, .high = first}, b = a;  // neither waits for the other
  std::size_t i = 0;
  for (; i + 2 * kLanes <= block.size(); i += 2 * kLanes) {
    a.take(block.data() + i);
    b.take(block.data() + i + kLanes);
  }
  for (; i < block.size(); ++i) all.take(block[i]);
  for (const Partial& one : {a, b})
    for (std::size_t k = 0; k < kLanes; ++k) {
      all.sum += static_cast<double>(one.sum[k]);
      all.squares += static_cast<double>(one.squares[k]);
      all.low = std::min(all.low, one.low[k]);
      all.high = std::max(all.high, one.high[k]);
    }
  return all;
}

}  // namespace

void Moments::add(std::span<const float> values) {
  // Squares outside of these may be too large for float32, or too small.
  constexpr double kLeastSquares = 1e-30, kMostSquares = 1e30;
  for (std::size_t at = 0; at < values.size(); at += kBlock) {
    const auto block = values.subspan(at, std::min(kBlock, values.size() - at));
    Sums sums = sums_of(block);
    if (!(sums.squares > kLeastSquares && sums.squares < kMostSquares))
      sums = slow_sums_of(block);
    low_ = count_ == 0 ? sums.low : std::min(low_, sums.low);
    high_ = count_ == 0 ? sums.high : std::max(high_, sums.high);
    sum_ += sums.sum;
    squares_ += sums.squares;
    count_ += block.size();
  }
}

}  // namespace dl::cluster
