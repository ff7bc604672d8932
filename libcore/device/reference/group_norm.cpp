// Normalization by groups of channels of each example.

#include <algorithm>
#include <cmath>

#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

// Calls f(i, c) with the offset and channel of each element of a group.
template <typename F>
void for_each_in_group(const Groups& of, std::int64_t n, std::int64_t g, F f) {
  for (std::int64_t s = 0; s < of.s; ++s)
    for (std::int64_t c = g * of.width(); c < (g + 1) * of.width(); ++c)
      f((n * of.s + s) * of.c + c, c);
}

}  // namespace

using tensor::DType;

void ReferenceDevice::group_norm(View y, View statistics, View x, View gamma,
                                 View beta, double epsilon) {
  const Groups of = check_group_norm(DType::kF64, x, statistics, {gamma, beta});
  check_reals(DType::kF64, {y});
  check_same_shape(y, x);
  const auto count = static_cast<double>(of.s * of.width());
  const double* from = x.as<double>();
  for (std::int64_t n = 0; n < of.n; ++n)
    for (std::int64_t g = 0; g < of.g; ++g) {
      double mean = 0, variance = 0;
      for_each_in_group(of, n, g,
                        [&](auto i, auto) { mean += from[i] / count; });
      for_each_in_group(of, n, g, [&](auto i, auto) {
        variance += (from[i] - mean) * (from[i] - mean) / count;
      });
      const double inverse = 1 / std::sqrt(variance + epsilon);
      for_each_in_group(of, n, g, [&](auto i, auto c) {
        y.as<double>()[i] = (from[i] - mean) * inverse *
                                (gamma.empty() ? 1 : gamma.as<double>()[c]) +
                            (beta.empty() ? 0 : beta.as<double>()[c]);
      });
      double* to = statistics.as<double>() + 2 * (n * of.g + g);
      to[0] = mean;
      to[1] = inverse;
    }
}

void ReferenceDevice::group_norm_gradient(View dx, View dgamma, View dbeta,
                                          View dy, View x, View gamma,
                                          View statistics) {
  const Groups of =
      check_group_norm(DType::kF64, x, statistics, {gamma, dgamma, dbeta});
  check_reals(DType::kF64, {dy});
  check_same_shape(dy, x);
  if (!dx.empty()) {
    check_reals(DType::kF64, {dx});
    check_same_shape(dx, x);
  }
  for (const View& sum : {dgamma, dbeta})
    if (!sum.empty()) std::fill_n(sum.as<double>(), of.c, 0.0);
  const auto count = static_cast<double>(of.s * of.width());
  const double* slope = dy.as<double>();
  for (std::int64_t n = 0; n < of.n; ++n)
    for (std::int64_t g = 0; g < of.g; ++g) {
      const double* has = statistics.as<double>() + 2 * (n * of.g + g);
      const auto xhat = [&](auto i) {
        return (x.as<double>()[i] - has[0]) * has[1];
      };
      const auto factor = [&](auto c) {
        return gamma.empty() ? 1 : gamma.as<double>()[c];
      };
      double sum = 0, sum_xhat = 0;
      for_each_in_group(of, n, g, [&](auto i, auto c) {
        sum += slope[i] * factor(c);
        sum_xhat += slope[i] * factor(c) * xhat(i);
        if (!dgamma.empty()) dgamma.as<double>()[c] += slope[i] * xhat(i);
        if (!dbeta.empty()) dbeta.as<double>()[c] += slope[i];
      });
      if (dx.empty()) continue;
      for_each_in_group(of, n, g, [&](auto i, auto c) {
        dx.as<double>()[i] = has[1] * (slope[i] * factor(c) - sum / count -
                                       xhat(i) * sum_xhat / count);
      });
    }
}

}  // namespace dl::device
