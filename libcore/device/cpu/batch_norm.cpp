// Batch normalization, its statistics and gradients.

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "libcore/device/check.h"
#include "libcore/device/cpu/columns.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/simd.h"

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

// A BatchNorm.
struct Channels {
  const float *mean, *variance, *gamma, *beta;
  double epsilon;
  bool relu;
};

// Factors of the channels first + c, for c below width.
DL_INLINE void find_factors(float* factor, const Channels& of,
                            std::int64_t first, std::int64_t width) {
  for (std::int64_t c = first; c < first + width; ++c)
    factor[c - first] = static_cast<float>(
        of.gamma[c] / std::sqrt(of.variance[c] + of.epsilon));
}

DL_VECTOR void batch_norm_sums(float* dgamma, float* dbeta, const float* dy,
                               const float* x, const Channels& of,
                               std::int64_t rows, std::int64_t length) {
  const float *mean = of.mean, *variance = of.variance, *beta = of.beta;
  const double epsilon = of.epsilon;
  const auto store = [=](std::int64_t c, const double(&sum)[2]) {
    dgamma[c] = static_cast<float>(sum[0] / std::sqrt(variance[c] + epsilon));
    dbeta[c] = static_cast<float>(sum[1]);
  };
  if (!of.relu)
    return for_each_column_sum<2>(
        rows, length,
        [=](std::int64_t at, std::int64_t c) {
          return Terms<2>{dy[at] * (x[at] - mean[c]), dy[at]};
        },
        store);
  const float* factor = dgamma;  // until a column's sum is there
  find_factors(dgamma, of, 0, length);
  for_each_column_sum<2>(
      rows, length,
      [=](std::int64_t at, std::int64_t c) {
        const float distance = x[at] - mean[c];
        const float slope = distance * factor[c] + beta[c] > 0 ? dy[at] : 0.0F;
        return Terms<2>{slope * distance, slope};
      },
      store);
}

// y = (x - mean) * factor + beta, + added unless that is null
DL_VECTOR void batch_norm(float* y, const float* x, const float* added,
                          const Channels& of, std::int64_t rows,
                          std::int64_t length) {
  float factor[kStrip];
  // Lower limit of the output.
  const float least = of.relu ? 0.0F : -std::numeric_limits<float>::infinity();
  for (std::int64_t first = 0; first < length; first += kStrip) {
    const std::int64_t width = std::min(kStrip, length - first);
    find_factors(factor, of, first, width);
    const float *mean = of.mean + first, *beta = of.beta + first;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = r * length + first;
      if (added != nullptr) {
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < width; ++c) {
          const float z = (x[at + c] - mean[c]) * factor[c] + beta[c];
          const float sum = z + added[at + c];
          y[at + c] = sum < least ? least : sum;
        }
        continue;
      }
      DL_INDEPENDENT
      for (std::int64_t c = 0; c < width; ++c) {
        const float z = (x[at + c] - mean[c]) * factor[c] + beta[c];
        y[at + c] = z < least ? least : z;
      }
    }
  }
}

// dx = factor * (dy - offset - (x - mean) * slope)
DL_VECTOR void batch_norm_gradient(float* dx, const float* dy, const float* x,
                                   const Channels& of, const float* sum_dy,
                                   const float* sum_dy_xhat, double count,
                                   std::int64_t rows, std::int64_t length) {
  float factor[kStrip], offset[kStrip], slope[kStrip];
  for (std::int64_t first = 0; first < length; first += kStrip) {
    const std::int64_t width = std::min(kStrip, length - first);
    for (std::int64_t c = 0; c < width; ++c) {
      const double inverse = 1 / std::sqrt(of.variance[first + c] + of.epsilon);
      factor[c] = static_cast<float>(of.gamma[first + c] * inverse);
      offset[c] = static_cast<float>(sum_dy[first + c] / count);
      slope[c] = static_cast<float>(sum_dy_xhat[first + c] / count * inverse);
    }
    const float *mean = of.mean + first, *beta = of.beta + first;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = r * length + first;
      if (!of.relu) {
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < width; ++c)
          dx[at + c] = factor[c] * (dy[at + c] - offset[c] -
                                    (x[at + c] - mean[c]) * slope[c]);
        continue;
      }
      DL_INDEPENDENT
      for (std::int64_t c = 0; c < width; ++c) {
        const float distance = x[at + c] - mean[c];
        const float kept =
            distance * factor[c] + beta[c] > 0 ? dy[at + c] : 0.0F;
        dx[at + c] = factor[c] * (kept - offset[c] - distance * slope[c]);
      }
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

kernels::Channels channels_of(const BatchNorm& spec, const Rows& rows) {
  const auto floats = [&](const View& v) {
    check_reals(DType::kF32, {v});
    check_shape(v, tensor::Shape{rows.length});
    return v.as<float>();
  };
  return {floats(spec.mean), floats(spec.variance), floats(spec.gamma),
          floats(spec.beta), spec.epsilon,          spec.relu};
}

}  // namespace

void CpuDevice::sum_squares_about(View s, View x, View mean) {
  const auto [count, length] = rows_with(x, {s, mean});
  kernels::sum_squares_about(s.as<float>(), x.as<float>(), mean.as<float>(),
                             count, length);
}

void CpuDevice::batch_norm(const BatchNorm& spec, View y, View x) {
  const Rows rows = rows_with(x, {});
  check_reals(DType::kF32, {y});
  check_same_shape(y, x);
  const float* added = nullptr;
  if (!spec.added.empty()) {
    check_reals(DType::kF32, {spec.added});
    check_same_shape(spec.added, x);
    added = spec.added.as<float>();
  }
  kernels::batch_norm(y.as<float>(), x.as<float>(), added,
                      channels_of(spec, rows), rows.count, rows.length);
}

void CpuDevice::batch_norm_sums(const BatchNorm& spec, View dgamma, View dbeta,
                                View dy, View x) {
  const Rows rows = rows_with(x, {dgamma, dbeta});
  check_reals(DType::kF32, {dy});
  check_same_shape(dy, x);
  kernels::batch_norm_sums(dgamma.as<float>(), dbeta.as<float>(),
                           dy.as<float>(), x.as<float>(),
                           channels_of(spec, rows), rows.count, rows.length);
}

void CpuDevice::batch_norm_gradient(const BatchNorm& spec, View dx, View dy,
                                    View x, View sum_dy, View sum_dy_xhat,
                                    double count) {
  const Rows rows = rows_with(x, {sum_dy, sum_dy_xhat});
  check_reals(DType::kF32, {dx, dy});
  check_same_shape(dx, x);
  check_same_shape(dy, x);
  kernels::batch_norm_gradient(dx.as<float>(), dy.as<float>(), x.as<float>(),
                               channels_of(spec, rows), sum_dy.as<float>(),
                               sum_dy_xhat.as<float>(), count, rows.count,
                               rows.length);
}

}  // namespace dl::device
