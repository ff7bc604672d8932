#include "libcore/exchange/sample.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

namespace dl::exchange {

std::size_t sample_magnitudes(std::span<const float> x,
                              std::span<const float> y, std::size_t size,
                              float floor, Philox& random,
                              std::vector<float>& magnitudes) {
  magnitudes.clear();
  const auto add = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const float size_of = std::fabs(y.empty() ? x[i] : x[i] + y[i]);
      if (size_of >= floor) magnitudes.push_back(size_of);
    }
  };
  if (x.size() <= size) {
    add(0, x.size());
    return x.size();
  }
  constexpr std::size_t kRun = 8;  // from one cache line or two
  const std::size_t runs = std::max<std::size_t>(size / kRun, 1);
  const auto stretch =
      static_cast<double>(x.size() - kRun) / static_cast<double>(runs);
  for (std::size_t r = 0; r < runs; ++r) {
    const auto at = static_cast<std::size_t>(
        (static_cast<double>(r) + random.uniform()) * stretch);
    add(at, at + kRun);
  }
  return runs * kRun;
}

float largest_reach(std::span<float> magnitudes, std::size_t rank) {
  const auto nth = magnitudes.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(magnitudes.begin(), nth, magnitudes.end(), std::greater<>());
  return *nth;
}

}  // namespace dl::exchange
