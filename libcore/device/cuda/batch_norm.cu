// Batch normalisation, its statistics and gradients.

#include <cmath>
#include <initializer_list>

#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/reals.h"
#include "libcore/device/cuda/reduce.h"
#include "libcore/device/cuda/strips.h"

namespace dl::device::cuda {

using tensor::View;

namespace {

// Rows of x, after checking that all of `statistics` have one value a channel.
Rows rows_with(const View& x, std::initializer_list<View> statistics) {
  check_reals({x});
  check_reals(statistics);
  const Rows rows = rows_of(x);
  for (const View& s : statistics) check_shape(s, tensor::Shape{rows.length});
  return rows;
}

}  // namespace

void CudaDevice::sum_squares_about(View s, View x, View mean) {
  const Rows rows = rows_with(x, {s, mean});
  if (rows.length == 0) return;
  const Reals from(x), middle(mean), to(s);
  const std::int64_t length = rows.length;
  sum_columns<double>(
      stream_, rows.count, length,
      [=] DL_DEVICE(std::int64_t i, std::int64_t c) {
        const float distance = from[i * length + c] - middle[c];
        return static_cast<double>(distance * distance);
      },
      [=] DL_DEVICE(std::int64_t c, double sum) {
        to.set(c, static_cast<float>(sum));
      });
}

void CudaDevice::batch_norm(View y, View x, View mean, View variance,
                            View gamma, View beta, double epsilon) {
  const Rows rows = rows_with(x, {mean, variance, gamma, beta});
  check_reals({y});
  check_same_shape(y, x);
  const Reals to(y), from(x), middle(mean), spread(variance), steep(gamma),
      shift(beta);
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
  check_reals({dy});
  check_same_shape(dy, x);
  if (rows.length == 0) return;
  const Reals to_gamma(dgamma), to_beta(dbeta), slope(dy), from(x),
      middle(mean), spread(variance);
  const std::int64_t length = rows.length;
  sum_columns<Two>(
      stream_, rows.count, length,
      [=] DL_DEVICE(std::int64_t i, std::int64_t c) {
        const std::int64_t at = i * length + c;
        return Two{slope[at] * (from[at] - middle[c]), slope[at]};
      },
      [=] DL_DEVICE(std::int64_t c, const Two& sum) {
        to_gamma.set(
            c, static_cast<float>(sum.a / std::sqrt(spread[c] + epsilon)));
        to_beta.set(c, static_cast<float>(sum.b));
      });
}

// dx = factor * (dy - offset - (x - mean) * steep)
void CudaDevice::batch_norm_gradient(View dx, View dy, View x, View mean,
                                     View variance, View gamma, View sum_dy,
                                     View sum_dy_xhat, double count,
                                     double epsilon) {
  const Rows rows = rows_with(x, {mean, variance, gamma, sum_dy, sum_dy_xhat});
  check_reals({dx, dy});
  check_same_shape(dx, x);
  check_same_shape(dy, x);
  const Reals to(dx), slope(dy), from(x), middle(mean), spread(variance),
      times(gamma), sum(sum_dy), sum_xhat(sum_dy_xhat);
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
