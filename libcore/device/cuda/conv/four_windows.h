// Convolution of images of few channels, as a network's first is: windows are
// too short for products of matrices, and more is written than read.
//
// A thread has four windows.  It multiplies each of their numbers by the
// weights of a tile of filters, which lie in shared memory.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_FOUR_WINDOWS_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_FOUR_WINDOWS_H_

#include <cstdint>

#include "libcore/device/cuda/conv/conv_axes.h"
#include "libcore/device/cuda/conv/conv_geometry.h"
#include "libcore/device/cuda/kernel/grid.h"

namespace dl::device::cuda {

// A tile of 4 * fours filters.
template <int fours>
struct FourWindows {
  static constexpr int filters = 4 * fours;
  using Sums = float[4][filters];

  Pixels pixels;
  const float *from, *w;
  int window, all_filters;

  // Bytes, for [window, filters].
  std::size_t shared() const {
    return sizeof(float) * static_cast<std::size_t>(window * filters);
  }

  // Weights from filter `first` on; by the whole block.
  DL_DEVICE void load(const Block& b, int first) const {
    float* const to = reinterpret_cast<float*>(b.shared);
    for (int i = static_cast<int>(b.thread); i < window * filters;
         i += static_cast<int>(b.threads)) {
      const int f = i / window, k = i - f * window;
      to[k * filters + f] =
          first + f < all_filters ? w[(first + f) * window + k] : 0.0F;
    }
    b.sync();
  }

  // Adds the windows at `at`.
  DL_DEVICE void add(const Block& b, Sums& sums,
                     const Pixels::At (&at)[4]) const {
    const float* weights = reinterpret_cast<const float*>(b.shared);
    for (int d = 0; d < pixels.d.taps; ++d)
      for (int h = 0; h < pixels.h.taps; ++h)
        for (int k = 0; k < pixels.w.taps; ++k) {
          Pixels::At tap{0, d * pixels.d.tap_step, h * pixels.h.tap_step,
                         k * pixels.w.tap_step};
          tap.offset = pixels.offset(tap.d, tap.h, tap.w);
          bool met[4];
          DL_UNROLL
          for (int j = 0; j < 4; ++j) met[j] = pixels.meet(at[j], tap);
          for (int c = 0; c < pixels.channels; ++c, weights += filters) {
            float x[4];
            DL_UNROLL
            for (int j = 0; j < 4; ++j)
              x[j] = met[j] ? from[at[j].offset + tap.offset + c] : 0.0F;
            add(sums, x, weights);
          }
        }
  }

 private:
  DL_DEVICE static void add(Sums& sums, const float (&x)[4],
                            const float* weights) {
    DL_UNROLL
    for (int i = 0; i < fours; ++i) {
      const float4 four = *reinterpret_cast<const float4*>(weights + 4 * i);
      DL_UNROLL
      for (int j = 0; j < 4; ++j) {
        sums[j][4 * i] += x[j] * four.x;
        sums[j][4 * i + 1] += x[j] * four.y;
        sums[j][4 * i + 2] += x[j] * four.z;
        sums[j][4 * i + 3] += x[j] * four.w;
      }
    }
  }
};

// A row of `all` filters: its part from `first` on.
template <int fours>
DL_DEVICE void put_filters(float* row, int first, int all,
                           const float (&values)[4 * fours]) {
  float* const to = row + first;
  const bool vectors =
      all % 4 == 0 && reinterpret_cast<std::uintptr_t>(to) % 16 == 0;
  DL_UNROLL
  for (int i = 0; i < fours; ++i) {
    if (vectors && first + 4 * i < all) {
      *reinterpret_cast<float4*>(to + 4 * i) = {
          values[4 * i], values[4 * i + 1], values[4 * i + 2],
          values[4 * i + 3]};
    } else {
      DL_UNROLL
      for (int f = 4 * i; f < 4 * i + 4; ++f)
        if (first + f < all) to[f] = values[f];
    }
  }
}

// f<fours>(), of a tile that fits so many filters, or a small one where there
// are few blocks of rows.
template <class F>
void with_filter_tile(const Stream& stream, int filters, int row_blocks,
                      const F& f) {
  if (filters <= 8 || row_blocks < busy_blocks(stream) / 4)
    return f.template operator()<2>();
  if (filters % 20 == 0) return f.template operator()<5>();
  f.template operator()<4>();
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_FOUR_WINDOWS_H_
