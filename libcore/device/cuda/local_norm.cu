// Local response normalization, one channel after the other.  For the gradient
// a block looks at a strip of channels of one pixel.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/grid.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/kernel/reduce.h"

namespace dl::device::cuda {

namespace {

struct AcrossNorm {
  std::int64_t half, channels;
  float k, alpha, beta;

  // Divisor of channel c of the pixel x.
  DL_DEVICE float divisor(const Reals& x, std::int64_t c) const {
    const std::int64_t end = c + half < channels ? c + half + 1 : channels;
    float sum = 0;
    for (std::int64_t i = c > half ? c - half : 0; i < end; ++i) {
      const float value = x[i];
      sum += value * value;
    }
    return k + alpha * sum;
  }
};

struct NormGradient {
  AcrossNorm norm;
  std::int64_t strips;
  Reals dx, dy, x;

  // The part of it that the channels around c need is computed once: shared has
  // room for the strip and half a window at each side.
  DL_DEVICE void operator()(const Block& b) const {
    const std::int64_t pixel = b.index / strips * norm.channels;
    const std::int64_t strip = b.index % strips * b.threads;
    const Reals from = x + pixel, up = dy + pixel;
    float* const terms = reinterpret_cast<float*>(b.shared);
    const auto half = static_cast<unsigned>(norm.half);
    for (unsigned i = b.thread; i < b.threads + 2 * half; i += b.threads) {
      const std::int64_t c = strip + i - half;
      if (c < 0 || c >= norm.channels) {
        terms[i] = 0;
        continue;
      }
      const float d = norm.divisor(from, c);
      terms[i] = up[c] * from[c] * (std::pow(d, -norm.beta) / d);
    }
    b.sync();
    const std::int64_t c = strip + b.thread;
    if (c >= norm.channels) return;
    float sum = 0;
    for (unsigned i = 0; i <= 2 * half; ++i) sum += terms[b.thread + i];
    dx.set(pixel + c, up[c] * std::pow(norm.divisor(from, c), -norm.beta) -
                          2 * norm.alpha * norm.beta * from[c] * sum);
  }
};

AcrossNorm norm_of(const LocalNorm& spec, const Rows& rows) {
  return {spec.window / 2, rows.length, static_cast<float>(spec.k),
          static_cast<float>(spec.alpha), static_cast<float>(spec.beta)};
}

}  // namespace

void CudaDevice::local_norm(const LocalNorm& spec, View y, View x) {
  const Rows rows = check_local_norm(kReals, spec, {y, x});
  const AcrossNorm norm = norm_of(spec, rows);
  const Reals to(y), from(x);
  each(stream_, y.elements(), [=] DL_DEVICE(std::int64_t i) {
    const std::int64_t c = i % norm.channels;
    to.set(i, from[i] * std::pow(norm.divisor(from + (i - c), c), -norm.beta));
  });
}

void CudaDevice::local_norm_gradient(const LocalNorm& spec, View dx, View dy,
                                     View x) {
  const Rows rows = check_local_norm(kReals, spec, {dx, dy, x});
  if (dx.elements() == 0) return;
  unsigned threads = std::min(kThreads, stream_.most_threads());
  while (threads > 32 && threads / 2 >= rows.length) threads /= 2;
  const std::int64_t strips = (rows.length + threads - 1) / threads;
  const auto around = static_cast<unsigned>(spec.window - 1);
  const unsigned terms = 1 + (around + threads - 1) / threads;  // a thread's
  blocks(stream_, rows.count * strips, threads, terms * sizeof(float),
         NormGradient{norm_of(spec, rows), strips, Reals(dx), Reals(dy),
                      Reals(x)});
}

}  // namespace dl::device::cuda
