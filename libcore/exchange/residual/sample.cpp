// Quantiles of magnitudes from a sample.

#include "libcore/exchange/residual/sample.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

namespace dl::exchange {
std::size_t sample_magnitudes(std::span<const float> x,
                              std::span<const float> y, std::size_t size,
                              float floor, Philox& random,
                              std::vector<float>& magnitudes) {
  magnitudes.resize(std::min(size, x.size()) + kSampleRun);
  std::size_t kept = 0;
  const std::size_t looked_at = sample_runs(
      x.size(), size, random, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
          const float v = std::fabs(y.empty() ? x[i] : x[i] + y[i]);
          magnitudes[kept] = v;  // kept or written over, without a branch
          kept += v >= floor;
        }
      });
  magnitudes.resize(kept);
  return looked_at;
}

float largest_reach(std::span<float> magnitudes, std::size_t rank) {
  const auto nth = magnitudes.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(magnitudes.begin(), nth, magnitudes.end(), std::greater<>());
  return *nth;
}

}  // namespace dl::exchange
