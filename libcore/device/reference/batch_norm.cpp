// Batch normalization, its statistics and gradients.

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

std::int64_t channels_of(const View& x, const BatchNorm& spec) {
  return channels_of(x, {spec.mean, spec.variance, spec.gamma, spec.beta});
}

double deviation(const BatchNorm& spec, std::int64_t c) {
  return std::sqrt(spec.variance.as<double>()[c] + spec.epsilon);
}

double xhat_of(const BatchNorm& spec, const View& x, std::int64_t i,
               std::int64_t c) {
  return (x.as<double>()[i] - spec.mean.as<double>()[c]) / deviation(spec, c);
}

// Before relu.
double result(const BatchNorm& spec, double xhat, std::int64_t c) {
  return xhat * spec.gamma.as<double>()[c] + spec.beta.as<double>()[c];
}

double let_through(const BatchNorm& spec, double dy, double xhat,
                   std::int64_t c) {
  return spec.relu && result(spec, xhat, c) <= 0 ? 0 : dy;
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

void ReferenceDevice::batch_norm(const BatchNorm& spec, View y, View x) {
  const std::int64_t channels = channels_of(x, spec);
  check_reals(DType::kF64, {y});
  check_same_shape(y, x);
  if (!spec.added.empty()) {
    check_reals(DType::kF64, {spec.added});
    check_same_shape(spec.added, x);
  }
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::int64_t c = i % channels;
    double z = result(spec, xhat_of(spec, x, i, c), c);
    if (!spec.added.empty()) z += spec.added.as<double>()[i];
    y.as<double>()[i] = spec.relu && z < 0 ? 0 : z;
  }
}

void ReferenceDevice::batch_norm_sums(const BatchNorm& spec, View dgamma,
                                      View dbeta, View dy, View x) {
  const std::int64_t channels = channels_of(x, spec);
  check_reals(DType::kF64, {dgamma, dbeta, dy});
  for (const View& sums : {dgamma, dbeta})
    check_shape(sums, tensor::Shape{channels});
  check_same_shape(dy, x);
  std::fill_n(dgamma.as<double>(), channels, 0.0);
  std::fill_n(dbeta.as<double>(), channels, 0.0);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::int64_t c = i % channels;
    const double xhat = xhat_of(spec, x, i, c);
    const double slope = let_through(spec, dy.as<double>()[i], xhat, c);
    dgamma.as<double>()[c] += slope * xhat;
    dbeta.as<double>()[c] += slope;
  }
}

void ReferenceDevice::batch_norm_gradient(const BatchNorm& spec, View dx,
                                          View dy, View x, View sum_dy,
                                          View sum_dy_xhat, double count) {
  const std::int64_t channels = channels_of(x, spec);
  check_reals(DType::kF64, {dx, dy, sum_dy, sum_dy_xhat});
  for (const View& sums : {sum_dy, sum_dy_xhat})
    check_shape(sums, tensor::Shape{channels});
  check_same_shape(dx, x);
  check_same_shape(dy, x);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::int64_t c = i % channels;
    const double xhat = xhat_of(spec, x, i, c);
    const double slope = let_through(spec, dy.as<double>()[i], xhat, c);
    dx.as<double>()[i] = spec.gamma.as<double>()[c] / deviation(spec, c) *
                         (slope - sum_dy.as<double>()[c] / count -
                          xhat * sum_dy_xhat.as<double>()[c] / count);
  }
}

}  // namespace dl::device
