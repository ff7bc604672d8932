#include "libcore/exchange/sample.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

namespace dl::exchange {
namespace {

constexpr std::size_t kRun = 8;  // elements, from one cache line or two

}  // namespace

std::size_t sample_magnitudes(std::span<const float> x,
                              std::span<const float> y, std::size_t size,
                              float floor, Philox& random,
                              std::vector<float>& magnitudes) {
  magnitudes.resize(std::min(size, x.size()) + kRun);
  std::size_t kept = 0;
  const auto add = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const float v = std::fabs(y.empty() ? x[i] : x[i] + y[i]);
      magnitudes[kept] = v;  // kept or written over, without a branch
      kept += v >= floor;
    }
  };
  std::size_t looked_at = x.size();
  if (x.size() <= size) {
    add(0, x.size());
  } else {
    const std::size_t runs = size / kRun, stretch = x.size() / runs;
    for (std::size_t r = 0; r < runs; ++r) {
      const std::size_t at = r * stretch + random.below(stretch - kRun + 1);
      add(at, at + kRun);
    }
    looked_at = runs * kRun;
  }
  magnitudes.resize(kept);
  return looked_at;
}

float largest_reach(std::span<float> magnitudes, std::size_t rank) {
  const auto nth = magnitudes.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(magnitudes.begin(), nth, magnitudes.end(), std::greater<>());
  return *nth;
}

}  // namespace dl::exchange
