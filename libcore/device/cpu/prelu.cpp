// Rectifiers whose slope is learnt.  Few slopes are repeated to the width of a
// strip, so that the loops over it are long.

#include <algorithm>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cpu/columns.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

DL_VECTOR void prelu(float* y, const float* x, const float* slope,
                     std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] < 0 ? slope[i] * x[i] : x[i];
}

DL_VECTOR void prelu_gradient(float* dx, const float* dy, const float* x,
                              const float* slope, std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i)
    dx[i] = dy[i] * (x[i] > 0 ? 1.0f : slope[i]);
}

DL_VECTOR void add_slopes(double* sum, const float* dy, const float* x,
                          std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) sum[i] += x[i] > 0 ? 0.0f : dy[i] * x[i];
}

}  // namespace kernels

namespace {

using tensor::DType;
using tensor::View;

// Elements first, first + row, .. begin runs of `width` with the same slopes.
struct SlopeStrip {
  std::int64_t first, row, width;
};

template <typename F>
void for_each_slope_strip(std::int64_t k, F f) {
  if (k <= kStrip) {
    const std::int64_t width = kStrip / k * k;
    return f(SlopeStrip{0, width, width});
  }
  for (std::int64_t first = 0; first < k; first += kStrip)
    f(SlopeStrip{first, k, std::min(kStrip, k - first)});
}

// Calls f(at, n, slopes) for each run of n elements from `at` on.
template <typename F>
void for_each_run(const View& slope, std::int64_t elements, F f) {
  const std::int64_t k = slope.elements();
  for_each_slope_strip(k, [&](const SlopeStrip& strip) {
    float slopes[kStrip];
    for (std::int64_t i = 0; i < strip.width; ++i)
      slopes[i] = slope.as<float>()[(strip.first + i) % k];
    for (std::int64_t at = strip.first; at < elements; at += strip.row)
      f(at, std::min(strip.width, elements - at), slopes);
  });
}

}  // namespace

void CpuDevice::prelu(View y, View x, View slope) {
  check_prelu(DType::kF32, {y, x}, slope);
  for_each_run(slope, x.elements(), [&](auto at, auto n, const float* slopes) {
    kernels::prelu(y.as<float>() + at, x.as<float>() + at, slopes, n);
  });
}

void CpuDevice::prelu_gradient(View dx, View dslope, View dy, View x,
                               View slope) {
  const std::int64_t k = check_prelu(DType::kF32, {dy, x}, slope);
  if (!dslope.empty()) {
    check_prelu(DType::kF32, {dslope}, slope);
    for_each_slope_strip(k, [&](const SlopeStrip& strip) {
      double sum[kStrip] = {};
      for (std::int64_t at = strip.first; at < x.elements(); at += strip.row)
        kernels::add_slopes(sum, dy.as<float>() + at, x.as<float>() + at,
                            std::min(strip.width, x.elements() - at));
      for (std::int64_t i = std::min(k, strip.width); i < strip.width; ++i)
        sum[i % k] += sum[i];
      for (std::int64_t i = 0; i < std::min(k, strip.width); ++i)
        dslope.as<float>()[strip.first + i] = static_cast<float>(sum[i]);
    });
  }
  if (dx.empty()) return;
  check_prelu(DType::kF32, {dx, x}, slope);
  for_each_run(slope, x.elements(), [&](auto at, auto n, const float* slopes) {
    kernels::prelu_gradient(dx.as<float>() + at, dy.as<float>() + at,
                            x.as<float>() + at, slopes, n);
  });
}

}  // namespace dl::device
