// Local response normalization, one element after the other.

#include <algorithm>
#include <cmath>

#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

using tensor::DType;

// Calls f(i) with the channels around c.
template <typename F>
void for_each_neighbour(const LocalNorm& spec, std::int64_t c,
                        std::int64_t channels, F f) {
  const std::int64_t half = spec.window / 2;
  for (std::int64_t i = std::max<std::int64_t>(c - half, 0);
       i <= std::min(c + half, channels - 1); ++i)
    f(i);
}

double divisor(const LocalNorm& spec, const double* x, std::int64_t c,
               std::int64_t channels) {
  double sum = 0;
  for_each_neighbour(spec, c, channels, [&](auto i) { sum += x[i] * x[i]; });
  return spec.k + spec.alpha * sum;
}

}  // namespace

void ReferenceDevice::local_norm(const LocalNorm& spec, View y, View x) {
  const Rows rows = check_local_norm(DType::kF64, spec, {y, x});
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const double* from = x.as<double>() + r * rows.length;
    for (std::int64_t c = 0; c < rows.length; ++c)
      y.as<double>()[r * rows.length + c] =
          from[c] * std::pow(divisor(spec, from, c, rows.length), -spec.beta);
  }
}

void ReferenceDevice::local_norm_gradient(const LocalNorm& spec, View dx,
                                          View dy, View x) {
  const Rows rows = check_local_norm(DType::kF64, spec, {dx, dy, x});
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const double* from = x.as<double>() + r * rows.length;
    const double* slope = dy.as<double>() + r * rows.length;
    for (std::int64_t c = 0; c < rows.length; ++c) {
      double sum = 0;
      for_each_neighbour(spec, c, rows.length, [&](auto i) {
        sum += slope[i] * from[i] *
               std::pow(divisor(spec, from, i, rows.length), -spec.beta - 1);
      });
      dx.as<double>()[r * rows.length + c] =
          slope[c] * std::pow(divisor(spec, from, c, rows.length), -spec.beta) -
          2 * spec.alpha * spec.beta * from[c] * sum;
    }
  }
}

}  // namespace dl::device
