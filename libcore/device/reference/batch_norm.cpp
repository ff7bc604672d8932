// Batch normalisation, its statistics and gradients.

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

using tensor::DType;
using tensor::View;

// Channels of x, after checking that all of `statistics` have one value each.
std::int64_t channels_of(const View& x,
                         std::initializer_list<View> statistics) {
  check_reals(DType::kF64, {x});
  check_reals(DType::kF64, statistics);
  const std::int64_t channels = rows_of(x).length;
  for (const View& s : statistics) check_shape(s, tensor::Shape{channels});
  return channels;
}

}  // namespace

void ReferenceDevice::sum_squares_about(View s, View x, View mean) {
  const std::int64_t channels = channels_of(x, {s, mean});
  std::fill_n(s.as<double>(), channels, 0.0);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::int64_t c = i % channels;
    const double distance = x.as<double>()[i] - mean.as<double>()[c];
    s.as<double>()[c] += distance * distance;
  }
}

void ReferenceDevice::batch_norm(View y, View x, View mean, View variance,
                                 View gamma, View beta, double epsilon) {
  const std::int64_t channels = channels_of(x, {mean, variance, gamma, beta});
  check_reals(DType::kF64, {y});
  check_same_shape(y, x);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::int64_t c = i % channels;
    y.as<double>()[i] = (x.as<double>()[i] - mean.as<double>()[c]) /
                            std::sqrt(variance.as<double>()[c] + epsilon) *
                            gamma.as<double>()[c] +
                        beta.as<double>()[c];
  }
}

void ReferenceDevice::batch_norm_sums(View dgamma, View dbeta, View dy, View x,
                                      View mean, View variance,
                                      double epsilon) {
  const std::int64_t channels = channels_of(x, {dgamma, dbeta, mean, variance});
  check_reals(DType::kF64, {dy});
  check_same_shape(dy, x);
  std::fill_n(dgamma.as<double>(), channels, 0.0);
  std::fill_n(dbeta.as<double>(), channels, 0.0);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::int64_t c = i % channels;
    const double xhat = (x.as<double>()[i] - mean.as<double>()[c]) /
                        std::sqrt(variance.as<double>()[c] + epsilon);
    dgamma.as<double>()[c] += dy.as<double>()[i] * xhat;
    dbeta.as<double>()[c] += dy.as<double>()[i];
  }
}

void ReferenceDevice::batch_norm_gradient(View dx, View dy, View x, View mean,
                                          View variance, View gamma,
                                          View sum_dy, View sum_dy_xhat,
                                          double count, double epsilon) {
  const std::int64_t channels =
      channels_of(x, {mean, variance, gamma, sum_dy, sum_dy_xhat});
  check_reals(DType::kF64, {dx, dy});
  check_same_shape(dx, x);
  check_same_shape(dy, x);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::int64_t c = i % channels;
    const double deviation = std::sqrt(variance.as<double>()[c] + epsilon);
    const double xhat = (x.as<double>()[i] - mean.as<double>()[c]) / deviation;
    dx.as<double>()[i] = gamma.as<double>()[c] / deviation *
                         (dy.as<double>()[i] - sum_dy.as<double>()[c] / count -
                          xhat * sum_dy_xhat.as<double>()[c] / count);
  }
}

}  // namespace dl::device
