// Batch normalisation, its statistics and gradients.

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "libcore/device/check.h"
#include "libcore/device/cpu/columns.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/vectorize.h"

namespace dl::device {
namespace kernels {

DL_VECTOR void sum_squares_about(float* s, const float* x, const float* mean,
                                 std::int64_t rows, std::int64_t length) {
  for_each_column_sum<1>(
      rows, length,
      [=](std::int64_t at, std::int64_t c) {
        const float distance = x[at] - mean[c];
        return Terms<1>{distance * distance};
      },
      [=](std::int64_t c, const double(&sum)[1]) {
        s[c] = static_cast<float>(sum[0]);
      });
}

DL_VECTOR void batch_norm_sums(float* dgamma, float* dbeta, const float* dy,
                               const float* x, const float* mean,
                               const float* variance, double epsilon,
                               std::int64_t rows, std::int64_t length) {
  for_each_column_sum<2>(
      rows, length,
      [=](std::int64_t at, std::int64_t c) {
        return Terms<2>{dy[at] * (x[at] - mean[c]), dy[at]};
      },
      [=](std::int64_t c, const double(&sum)[2]) {
        dgamma[c] =
            static_cast<float>(sum[0] / std::sqrt(variance[c] + epsilon));
        dbeta[c] = static_cast<float>(sum[1]);
      });
}

// y = (x - mean) * factor + beta
DL_VECTOR void batch_norm(float* y, const float* x, const float* mean,
                          const float* variance, const float* gamma,
                          const float* beta, double epsilon, std::int64_t rows,
                          std::int64_t length) {
  float factor[kStrip];
  for (std::int64_t first = 0; first < length; first += kStrip) {
    const std::int64_t width = std::min(kStrip, length - first);
    for (std::int64_t c = 0; c < width; ++c)
      factor[c] = static_cast<float>(gamma[first + c] /
                                     std::sqrt(variance[first + c] + epsilon));
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = r * length + first;
      DL_INDEPENDENT
      for (std::int64_t c = 0; c < width; ++c)
        y[at + c] = (x[at + c] - mean[first + c]) * factor[c] + beta[first + c];
    }
  }
}

struct Statistics {
  const float *mean, *variance, *gamma, *sum_dy, *sum_dy_xhat;
  double count, epsilon;
};

// dx = factor * (dy - offset - (x - mean) * slope)
DL_VECTOR void batch_norm_gradient(float* dx, const float* dy, const float* x,
                                   const Statistics& s, std::int64_t rows,
                                   std::int64_t length) {
  float factor[kStrip], offset[kStrip], slope[kStrip];
  for (std::int64_t first = 0; first < length; first += kStrip) {
    const std::int64_t width = std::min(kStrip, length - first);
    for (std::int64_t c = 0; c < width; ++c) {
      const double inverse = 1 / std::sqrt(s.variance[first + c] + s.epsilon);
      factor[c] = static_cast<float>(s.gamma[first + c] * inverse);
      offset[c] = static_cast<float>(s.sum_dy[first + c] / s.count);
      slope[c] =
          static_cast<float>(s.sum_dy_xhat[first + c] / s.count * inverse);
    }
    const float* mean = s.mean + first;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = r * length + first;
      DL_INDEPENDENT
      for (std::int64_t c = 0; c < width; ++c)
        dx[at + c] = factor[c] * (dy[at + c] - offset[c] -
                                  (x[at + c] - mean[c]) * slope[c]);
    }
  }
}

}  // namespace kernels

namespace {

using tensor::DType;
using tensor::View;

// Rows of x, after checking that all of `statistics` have one value a channel.
Rows rows_with(const View& x, std::initializer_list<View> statistics) {
  check_reals(DType::kF32, {x});
  check_reals(DType::kF32, statistics);
  const Rows rows = rows_of(x);
  for (const View& s : statistics) check_shape(s, tensor::Shape{rows.length});
  return rows;
}

}  // namespace

void CpuDevice::sum_squares_about(View s, View x, View mean) {
  const auto [count, length] = rows_with(x, {s, mean});
  kernels::sum_squares_about(s.as<float>(), x.as<float>(), mean.as<float>(),
                             count, length);
}

void CpuDevice::batch_norm(View y, View x, View mean, View variance, View gamma,
                           View beta, double epsilon) {
  const auto [count, length] = rows_with(x, {mean, variance, gamma, beta});
  check_reals(DType::kF32, {y});
  check_same_shape(y, x);
  kernels::batch_norm(y.as<float>(), x.as<float>(), mean.as<float>(),
                      variance.as<float>(), gamma.as<float>(), beta.as<float>(),
                      epsilon, count, length);
}

void CpuDevice::batch_norm_sums(View dgamma, View dbeta, View dy, View x,
                                View mean, View variance, double epsilon) {
  const auto [count, length] = rows_with(x, {dgamma, dbeta, mean, variance});
  check_reals(DType::kF32, {dy});
  check_same_shape(dy, x);
  kernels::batch_norm_sums(dgamma.as<float>(), dbeta.as<float>(),
                           dy.as<float>(), x.as<float>(), mean.as<float>(),
                           variance.as<float>(), epsilon, count, length);
}

void CpuDevice::batch_norm_gradient(View dx, View dy, View x, View mean,
                                    View variance, View gamma, View sum_dy,
                                    View sum_dy_xhat, double count,
                                    double epsilon) {
  const Rows rows = rows_with(x, {mean, variance, gamma, sum_dy, sum_dy_xhat});
  check_reals(DType::kF32, {dx, dy});
  check_same_shape(dx, x);
  check_same_shape(dy, x);
  kernels::batch_norm_gradient(
      dx.as<float>(), dy.as<float>(), x.as<float>(),
      {mean.as<float>(), variance.as<float>(), gamma.as<float>(),
       sum_dy.as<float>(), sum_dy_xhat.as<float>(), count, epsilon},
      rows.count, rows.length);
}

}  // namespace dl::device
