// A tap's sums over a row of pixels stay in registers, some channels side by
// side, while the rows that it needs stay in the first-level cache.  The sums
// of rows are added up in double.

#include "libcore/device/cpu/depthwise.h"

#include <algorithm>

#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

// Compilers keep these in registers, which they do not do with arrays.
constexpr std::int64_t kLanes = 16;
using Sixteen [[gnu::vector_size(kLanes * 4)]] = float;
using Loose [[gnu::vector_size(kLanes * 4), gnu::aligned(4), gnu::may_alias]] =
    float;

// part[c] = the sum over n pixels of x[c] dy[c].
template <int kVectors>
DL_INLINE void sum_pixels(float* part, const float* x, std::int64_t x_step,
                          const float* dy, std::int64_t dy_step,
                          std::int64_t n) {
  Sixteen sum[kVectors] = {};
  for (std::int64_t i = 0; i < n; ++i, x += x_step, dy += dy_step)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sum[v] += *reinterpret_cast<const Loose*>(x + v * kLanes) *
                *reinterpret_cast<const Loose*>(dy + v * kLanes);
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v)
    *reinterpret_cast<Loose*>(part + v * kLanes) = sum[v];
}

// A tap of the kernel: where it looks, and the outputs of a row for which that
// is inside the image.
struct Tap {
  std::int64_t down, right, begin, end;
};
DL_INLINE Tap tap_of(const Conv2dSpec& s, std::int64_t tap) {
  const std::int64_t down = tap / s.kernel[1] * s.dilation[0] - s.pad_begin[0];
  const std::int64_t right = tap % s.kernel[1] * s.dilation[1] - s.pad_begin[1];
  const std::int64_t stride = s.stride[1], most = s.width - 1 - right;
  return {down, right, std::max<std::int64_t>(stride - 1 - right, 0) / stride,
          most < 0 ? 0 : std::min(most / stride + 1, s.out_width())};
}

constexpr std::int64_t kTapsAtOnce = 32;

// dw of `count` taps from `first` on and channels [0, width) of x and dy;
// kVectors: width / kLanes, or 0 where that is less than 1.
template <int kVectors>
DL_VECTOR void tap_sums(const Conv2dSpec& s, std::int64_t batch,
                        std::int64_t given, std::int64_t first,
                        std::int64_t count, float* dw, const float* x,
                        const float* dy) {
  constexpr std::int64_t kRoom = std::max(kVectors, 1) * kLanes;
  const std::int64_t width = kVectors > 0 ? kRoom : given;
  const std::int64_t out_height = s.out_height(), out_width = s.out_width();
  const std::int64_t x_step = s.stride[1] * s.channels;
  Tap taps[kTapsAtOnce];
  double total[kTapsAtOnce][kRoom] = {};
  for (std::int64_t t = 0; t < count; ++t) taps[t] = tap_of(s, first + t);
  for (std::int64_t row = 0; row < batch * out_height; ++row)
    for (std::int64_t t = 0; t < count; ++t) {
      const Tap& tap = taps[t];
      const std::int64_t h = row % out_height * s.stride[0] + tap.down;
      if (h < 0 || h >= s.height || tap.begin >= tap.end) continue;
      const std::int64_t w = tap.begin * s.stride[1] + tap.right;
      const float* from =
          x + ((row / out_height * s.height + h) * s.width + w) * s.channels;
      const float* slope = dy + (row * out_width + tap.begin) * s.channels;
      float part[kRoom] = {};
      if constexpr (kVectors > 0) {
        sum_pixels<kVectors>(part, from, x_step, slope, s.channels,
                             tap.end - tap.begin);
      } else {
        for (std::int64_t i = 0; i < tap.end - tap.begin; ++i)
          for (std::int64_t c = 0; c < width; ++c)
            part[c] += from[i * x_step + c] * slope[i * s.channels + c];
      }
      for (std::int64_t c = 0; c < width; ++c) total[t][c] += part[c];
    }
  const std::int64_t all = s.kernel[0] * s.kernel[1];
  for (std::int64_t t = 0; t < count; ++t)
    for (std::int64_t c = 0; c < width; ++c)
      dw[c * all + first + t] = static_cast<float>(total[t][c]);
}

}  // namespace kernels

bool is_large_depthwise(const Conv2dSpec& spec) {
  return spec.groups == spec.channels && spec.filters == spec.channels &&
         spec.groups > 1 && (spec.kernel[0] > 3 || spec.kernel[1] > 3);
}

void depthwise_weights(const Conv2dSpec& spec, std::int64_t batch, float* dw,
                       const float* x, const float* dy) {
  const std::int64_t taps = spec.kernel[0] * spec.kernel[1];
  for (std::int64_t c = 0; c < spec.channels;) {
    const std::int64_t left = spec.channels - c;
    constexpr std::int64_t kOne = kernels::kLanes, kFour = 4 * kOne;
    const std::int64_t width = left >= kFour  ? kFour
                               : left >= kOne ? kOne
                                              : left;
    const auto sums = width == kFour  ? kernels::tap_sums<4>
                      : width == kOne ? kernels::tap_sums<1>
                                      : kernels::tap_sums<0>;
    for (std::int64_t t = 0; t < taps; t += kernels::kTapsAtOnce)
      sums(spec, batch, width, t, std::min(kernels::kTapsAtOnce, taps - t),
           dw + c * taps, x + c, dy + c);
    c += width;
  }
}

}  // namespace dl::device
