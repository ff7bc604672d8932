// Bilinear upsampling, a row of the result at a time.

#include <algorithm>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

// The two places of x along one axis that a place of y lies between.
struct Between {
  std::int64_t low, high;
  float low_share, high_share;
};
DL_INLINE Between between(std::int64_t at, std::int64_t factor,
                          std::int64_t extent) {
  // (at + 1/2) / factor - 1/2, in halves of 1 / factor.
  const std::int64_t place = 2 * at + 1 - factor + 2 * factor;
  const std::int64_t low = place / (2 * factor) - 1;
  const auto share =
      static_cast<float>(place % (2 * factor)) / static_cast<float>(2 * factor);
  return {std::max<std::int64_t>(low, 0), std::min(low + 1, extent - 1),
          1.0f - share, share};
}

// A row of y from the two of x that it lies between.
DL_VECTOR void upsample_row(float* y, const float* above, const float* below,
                            const Between& h, const Upsampling& u) {
  const float top = h.low_share, bottom = h.high_share;
  for (std::int64_t i = 0; i < u.width * u.factor[1]; ++i, y += u.channels) {
    const Between w = between(i, u.factor[1], u.width);
    const float *a = above + w.low * u.channels,
                *b = above + w.high * u.channels;
    const float *c = below + w.low * u.channels,
                *d = below + w.high * u.channels;
    const float left = w.low_share, right = w.high_share;
    DL_INDEPENDENT
    for (std::int64_t k = 0; k < u.channels; ++k)
      y[k] = top * (left * a[k] + right * b[k]) +
             bottom * (left * c[k] + right * d[k]);
  }
}

DL_VECTOR void add_scaled(float* to, const float* from, float factor,
                          std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t k = 0; k < n; ++k) to[k] += factor * from[k];
}

// Its gradient, added to the two rows, which may be one.
void spread_row(float* above, float* below, const float* dy, const Between& h,
                const Upsampling& u) {
  const std::int64_t c = u.channels;
  for (std::int64_t i = 0; i < u.width * u.factor[1]; ++i, dy += c) {
    const Between w = between(i, u.factor[1], u.width);
    add_scaled(above + w.low * c, dy, h.low_share * w.low_share, c);
    add_scaled(above + w.high * c, dy, h.low_share * w.high_share, c);
    add_scaled(below + w.low * c, dy, h.high_share * w.low_share, c);
    add_scaled(below + w.high * c, dy, h.high_share * w.high_share, c);
  }
}

}  // namespace kernels

namespace {

// Calls f(y, above, below, h) with the offsets of each row of y and of the two
// of x that it lies between.
template <typename F>
void for_each_row(const Upsampling& u, F f) {
  const std::int64_t row = u.width * u.channels;
  std::int64_t y = 0;
  for (std::int64_t n = 0; n < u.n; ++n)
    for (std::int64_t i = 0; i < u.height * u.factor[0]; ++i) {
      const kernels::Between h = kernels::between(i, u.factor[0], u.height);
      f(y, (n * u.height + h.low) * row, (n * u.height + h.high) * row, h);
      y += u.factor[1] * row;
    }
}

}  // namespace

void CpuDevice::upsample_bilinear(View y, View x) {
  const Upsampling u = check_upsampling(tensor::DType::kF32, y, x);
  for_each_row(u, [&](auto to, auto above, auto below, const auto& h) {
    kernels::upsample_row(y.as<float>() + to, x.as<float>() + above,
                          x.as<float>() + below, h, u);
  });
}

void CpuDevice::upsample_bilinear_gradient(View dx, View dy) {
  const Upsampling u = check_upsampling(tensor::DType::kF32, dy, dx);
  std::fill_n(dx.as<float>(), dx.elements(), 0.0f);
  for_each_row(u, [&](auto from, auto above, auto below, const auto& h) {
    kernels::spread_row(dx.as<float>() + above, dx.as<float>() + below,
                        dy.as<float>() + from, h, u);
  });
}

}  // namespace dl::device
