// Batch normalisation, its statistics and gradients.

#include <cmath>
#include <initializer_list>

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/reduce.h"
#include "libcore/device/cuda/strips.h"

namespace dl::device::cuda {

using tensor::DType;
using tensor::View;

namespace {

// Rows of x, after checking that all of `statistics` have one value a channel.
Rows rows_with(const View& x, std::initializer_list<View> statistics) {
  check_reals(DType::kF32, {x});
  check_reals(DType::kF32, statistics);
  const Rows rows = rows_of(x);
  for (const View& s : statistics) check_shape(s, tensor::Shape{rows.length});
  return rows;
}

}  // namespace

void CudaDevice::sum_squares_about(View s, View x, View mean) {
  const Rows rows = rows_with(x, {s, mean});
  if (rows.length == 0) return;
  const float *const from = x.as<float>(), *const middle = mean.as<float>();
  float* const to = s.as<float>();
  const std::int64_t length = rows.length;
  sum_columns<double>(
      stream_, rows.count, length,
      [=] DL_DEVICE(std::int64_t i, std::int64_t c) {
        const float distance = from[i * length + c] - middle[c];
        return static_cast<double>(distance * distance);
      },
      [=] DL_DEVICE(std::int64_t c, double sum) {
        to[c] = static_cast<float>(sum);
      });
}

void CudaDevice::batch_norm(View y, View x, View mean, View variance,
                            View gamma, View beta, double epsilon) {
  const Rows rows = rows_with(x, {mean, variance, gamma, beta});
  check_reals(DType::kF32, {y});
  check_same_shape(y, x);
  float* const to = y.as<float>();
  const float *const from = x.as<float>(), *const middle = mean.as<float>(),
                     *const spread = variance.as<float>(),
                     *const steep = gamma.as<float>(),
                     *const shift = beta.as<float>();
  each_strip(
      stream_, 1, rows.count, rows.length, [=] DL_DEVICE(const Strip& s) {
        const std::int64_t c = s.column;
        const auto factor =
            static_cast<float>(steep[c] / std::sqrt(spread[c] + epsilon));
        const float less = middle[c], more = shift[c];
        write_strip(s, to, [&](std::int64_t at) {
          return (from[at] - less) * factor + more;
        });
      });
}

void CudaDevice::batch_norm_sums(View dgamma, View dbeta, View dy, View x,
                                 View mean, View variance, double epsilon) {
  const Rows rows = rows_with(x, {dgamma, dbeta, mean, variance});
  check_reals(DType::kF32, {dy});
  check_same_shape(dy, x);
  if (rows.length == 0) return;
  float *const to_gamma = dgamma.as<float>(), *const to_beta =
                                                  dbeta.as<float>();
  const float *const slope = dy.as<float>(), *const from = x.as<float>(),
                     *const middle = mean.as<float>(),
                     *const spread = variance.as<float>();
  const std::int64_t length = rows.length;
  sum_columns<Two>(
      stream_, rows.count, length,
      [=] DL_DEVICE(std::int64_t i, std::int64_t c) {
        const std::int64_t at = i * length + c;
        return Two{slope[at] * (from[at] - middle[c]), slope[at]};
      },
      [=] DL_DEVICE(std::int64_t c, const Two& sum) {
        to_gamma[c] =
            static_cast<float>(sum.a / std::sqrt(spread[c] + epsilon));
        to_beta[c] = static_cast<float>(sum.b);
      });
}

// dx = factor * (dy - offset - (x - mean) * steep)
void CudaDevice::batch_norm_gradient(View dx, View dy, View x, View mean,
                                     View variance, View gamma, View sum_dy,
                                     View sum_dy_xhat, double count,
                                     double epsilon) {
  const Rows rows = rows_with(x, {mean, variance, gamma, sum_dy, sum_dy_xhat});
  check_reals(DType::kF32, {dx, dy});
  check_same_shape(dx, x);
  check_same_shape(dy, x);
  float* const to = dx.as<float>();
  const float *const slope = dy.as<float>(), *const from = x.as<float>(),
                     *const middle = mean.as<float>(),
                     *const spread = variance.as<float>(),
                     *const times = gamma.as<float>(),
                     *const sum = sum_dy.as<float>(),
                     *const sum_xhat = sum_dy_xhat.as<float>();
  each_strip(
      stream_, 1, rows.count, rows.length, [=] DL_DEVICE(const Strip& s) {
        const std::int64_t c = s.column;
        const double inverse = 1 / std::sqrt(spread[c] + epsilon);
        const auto factor = static_cast<float>(times[c] * inverse);
        const auto offset = static_cast<float>(sum[c] / count);
        const auto steep = static_cast<float>(sum_xhat[c] / count * inverse);
        const float less = middle[c];
        write_strip(s, to, [&](std::int64_t at) {
          return factor * (slope[at] - offset - (from[at] - less) * steep);
        });
      });
}

}  // namespace dl::device::cuda
