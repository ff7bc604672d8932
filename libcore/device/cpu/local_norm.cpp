// Local response normalization, a strip of channels of a pixel at a time.

#include <algorithm>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/math.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

constexpr std::int64_t kNormStrip = 128;
constexpr std::int64_t kMostHalf = LocalNorm::kMostWindow / 2;
// A strip, and what its channels have to see of those beside it.
constexpr std::int64_t kWideStrip = kNormStrip + 2 * kMostHalf;

struct Norm {
  std::int64_t half, channels;
  float k, alpha, beta;
};

// to[i] = the sum over the window around channel begin + i, of what value(c)
// gives for those in [first, last).
template <typename Value>
DL_INLINE void sum_windows(float* to, std::int64_t begin, std::int64_t end,
                           std::int64_t half, std::int64_t first,
                           std::int64_t last, Value value) {
  std::fill_n(to, end - begin, 0.0f);
  for (std::int64_t o = -half; o <= half; ++o) {
    const std::int64_t low = std::max(begin, first - o);
    const std::int64_t high = std::min(end, last - o);
    DL_INDEPENDENT
    for (std::int64_t c = low; c < high; ++c) to[c - begin] += value(c + o);
  }
}

// d of the channels [begin, end).
DL_INLINE void divisors(float* d, const float* x, std::int64_t begin,
                        std::int64_t end, const Norm& n) {
  sum_windows(d, begin, end, n.half, 0, n.channels,
              [=](std::int64_t c) { return x[c] * x[c]; });
  const float k = n.k, alpha = n.alpha;
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < end - begin; ++i) d[i] = k + alpha * d[i];
}

DL_VECTOR void local_norm(float* y, const float* x, std::int64_t rows, Norm n) {
  float d[kNormStrip];
  for (std::int64_t r = 0; r < rows; ++r, y += n.channels, x += n.channels)
    for (std::int64_t begin = 0; begin < n.channels; begin += kNormStrip) {
      const std::int64_t end = std::min(begin + kNormStrip, n.channels);
      divisors(d, x, begin, end, n);
      const float beta = n.beta;
      DL_INDEPENDENT
      for (std::int64_t c = begin; c < end; ++c)
        y[c] = x[c] * power_of(d[c - begin], -beta);
    }
}

DL_VECTOR void local_norm_gradient(float* dx, const float* dy, const float* x,
                                   std::int64_t rows, Norm n) {
  float d[kWideStrip], term[kWideStrip], sum[kNormStrip];
  const float beta = n.beta, factor = 2 * n.alpha * n.beta;
  for (std::int64_t r = 0; r < rows;
       ++r, dx += n.channels, dy += n.channels, x += n.channels)
    for (std::int64_t begin = 0; begin < n.channels; begin += kNormStrip) {
      const std::int64_t end = std::min(begin + kNormStrip, n.channels);
      const std::int64_t first = std::max<std::int64_t>(begin - n.half, 0);
      const std::int64_t last = std::min(end + n.half, n.channels);
      divisors(d, x, first, last, n);
      DL_INDEPENDENT
      for (std::int64_t i = 0; i < last - first; ++i) {
        const float share = power_of(d[i], -beta);
        term[i] = dy[first + i] * x[first + i] * (share / d[i]);
        d[i] = share;
      }
      sum_windows(sum, begin, end, n.half, first, last,
                  [&](std::int64_t c) { return term[c - first]; });
      DL_INDEPENDENT
      for (std::int64_t c = begin; c < end; ++c)
        dx[c] = dy[c] * d[c - first] - factor * x[c] * sum[c - begin];
    }
}

}  // namespace kernels

namespace {

kernels::Norm norm_of(const LocalNorm& spec, const Rows& rows) {
  return {spec.window / 2, rows.length, static_cast<float>(spec.k),
          static_cast<float>(spec.alpha), static_cast<float>(spec.beta)};
}

}  // namespace

void CpuDevice::local_norm(const LocalNorm& spec, View y, View x) {
  const Rows rows = check_local_norm(tensor::DType::kF32, spec, {y, x});
  kernels::local_norm(y.as<float>(), x.as<float>(), rows.count,
                      norm_of(spec, rows));
}

void CpuDevice::local_norm_gradient(const LocalNorm& spec, View dx, View dy,
                                    View x) {
  const Rows rows = check_local_norm(tensor::DType::kF32, spec, {dx, dy, x});
  kernels::local_norm_gradient(dx.as<float>(), dy.as<float>(), x.as<float>(),
                               rows.count, norm_of(spec, rows));
}

}  // namespace dl::device
