// Convolutions of narrow groups: each thread computes an element.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_DIRECT_CONV_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_DIRECT_CONV_H_

#include <cstdint>

#include "libcore/device/cuda/conv/conv_geometry.h"
#include "libcore/device/cuda/kernel/grid.h"
#include "libcore/device/cuda/kernel/strips.h"

namespace dl::device::cuda {

// x [positions of pixels], as its windows see it; w [filters, taps, channels of
// a group]; y [positions, filters].
struct DirectConv {
  Pixels x;
  Places inputs;  // as places of x
  Divisor stride_d, stride_h, stride_w;
  int filters, group_filters;
  Divisor by_filters, by_group_filters;

  // First channel of the filter's group.
  DL_DEVICE int first_channel(int f) const {
    return by_group_filters.quotient(f) * x.group_channels;
  }
  DL_DEVICE int weight(int f, int d, int h, int w) const {
    return (((f * x.d.taps + d) * x.h.taps + h) * x.w.taps + w) *
           x.group_channels;
  }
};

struct DirectForward {
  DirectConv c;
  float* y;
  const float *x, *w, *b;
  DL_DEVICE void operator()(std::int64_t i) const {
    const Pixels& p = c.x;
    const std::int64_t m = quotient(i, c.filters);
    const int f = static_cast<int>(i - m * c.filters);
    const Pixels::At at = p.position(static_cast<int>(m));
    float sum = 0;
    for (int d = 0; d < p.d.taps; ++d)
      for (int h = 0; h < p.h.taps; ++h)
        for (int k = 0; k < p.w.taps; ++k) {
          const Pixels::At tap{0, d * p.d.tap_step, h * p.h.tap_step,
                               k * p.w.tap_step};
          if (!p.meet(at, tap)) continue;
          const float* const from = x + at.offset +
                                    p.offset(tap.d, tap.h, tap.w) +
                                    c.first_channel(f);
          const float* const weights = w + c.weight(f, d, h, k);
          for (int j = 0; j < p.group_channels; ++j)
            sum += from[j] * weights[j];
        }
    y[i] = sum + (b != nullptr ? b[f] : 0.0F);
  }
};

struct DirectBackwardData {
  DirectConv c;
  float* dx;
  const float *dy, *w;

  // The position whose tap lies on the pixel, or -1.
  DL_DEVICE static int position(const ConvAxis& axis, const Divisor& stride,
                                int pixel, int tap) {
    const int from = pixel - axis.first - tap * axis.tap_step;
    if (from < 0) return -1;
    const int at = stride.quotient(from);
    return stride.rest(from, at) == 0 && at < axis.positions ? at : -1;
  }
  DL_DEVICE void operator()(std::int64_t i) const {
    const Pixels& p = c.x;
    const std::int64_t m = quotient(i, p.channels);
    const int channel = static_cast<int>(i - m * p.channels);
    const Place at = c.inputs.of(static_cast<int>(m));
    const int group = p.by_group_channels.quotient(channel);
    const int in_group = channel - group * p.group_channels;
    const int f = group * c.group_filters;
    float sum = 0;
    for (int d = 0; d < p.d.taps; ++d) {
      const int od = position(p.d, c.stride_d, at.d, d);
      if (od < 0) continue;
      for (int h = 0; h < p.h.taps; ++h) {
        const int oh = position(p.h, c.stride_h, at.h, h);
        if (oh < 0) continue;
        for (int k = 0; k < p.w.taps; ++k) {
          const int ow = position(p.w, c.stride_w, at.w, k);
          if (ow < 0) continue;
          const std::int64_t o =
              ((std::int64_t{at.example} * p.d.positions + od) * p.h.positions +
               oh) *
                  p.w.positions +
              ow;
          const float* const slopes = dy + o * c.filters + f;
          for (int j = 0; j < c.group_filters; ++j)
            sum += slopes[j] * w[c.weight(f + j, d, h, k) + in_group];
        }
      }
    }
    dx[i] = sum;
  }
};

// Contribution of position m to the j-th weight, filters innermost, so that
// neighbors read neighbors.
struct DirectSlope {
  DirectConv c;
  const float *x, *dy;
  TapBox taps;
  DL_DEVICE float operator()(std::int64_t m, std::int64_t j) const {
    const Pixels& p = c.x;
    const int k = c.by_filters.quotient(static_cast<int>(j));
    const int f = c.by_filters.rest(static_cast<int>(j), k);
    const Pixels::At tap = p.tap(taps, k);
    const Pixels::At at = p.position(static_cast<int>(m));
    if (!p.meet(at, tap)) return 0;
    return dy[m * c.filters + f] *
           x[at.offset + tap.offset + c.first_channel(f)];
  }
};

struct DirectWeight {
  DirectConv c;
  float* dw;
  int taps;  // times channels of a group
  DL_DEVICE void operator()(std::int64_t j, float sum) const {
    const int k = c.by_filters.quotient(static_cast<int>(j));
    const int f = c.by_filters.rest(static_cast<int>(j), k);
    dw[f * taps + k] = sum;
  }
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_DIRECT_CONV_H_
