// Convolution of images of few channels.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_FEW_CHANNELS_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_FEW_CHANNELS_H_

#include <cstdint>

#include "libcore/device/cuda/conv/four_windows.h"

namespace dl::device::cuda {

template <int fours>
struct FewChannelsForward {
  static constexpr int kTogether = 2;
  FourWindows<fours> windows;
  float* y;
  const float* bias;  // or null
  int rows, tiles;    // of y; of filters

  DL_DEVICE void operator()(const Block& b) const {
    const int at_row = static_cast<int>(b.index) / tiles;
    const int first =
        (static_cast<int>(b.index) - at_row * tiles) * windows.filters;
    windows.load(b, first);
    const int threads = static_cast<int>(b.threads);
    const int row = at_row * 4 * threads + static_cast<int>(b.thread);
    Pixels::At at[4];
    DL_UNROLL
    for (int j = 0; j < 4; ++j) {
      const int m = row + j * threads;
      at[j] = windows.pixels.position(m < rows ? m : 0);
    }
    typename FourWindows<fours>::Sums sums = {};
    windows.add(b, sums, at);
    DL_UNROLL
    for (int j = 0; j < 4; ++j) {
      const int m = row + j * threads;
      if (m >= rows) break;
      if (bias != nullptr) DL_UNROLL
      for (int f = 0; f < windows.filters; ++f)
        if (first + f < windows.all_filters) sums[j][f] += bias[first + f];
      put_filters<fours>(y + std::int64_t{m} * windows.all_filters, first,
                         windows.all_filters, sums[j]);
    }
  }
};

// y: [rows, filters], rows being the positions of all images.
inline void few_channels_forward(Stream& stream, const Pixels& pixels, int rows,
                                 int filters, float* y, const float* x,
                                 const float* w, const float* bias) {
  const int window =
      pixels.d.taps * pixels.h.taps * pixels.w.taps * pixels.channels;
  const int row_blocks = up(rows, 4 * static_cast<int>(kThreads));
  with_filter_tile(stream, filters, row_blocks, [&]<int fours>() {
    const FourWindows<fours> windows{pixels, x, w, window, filters};
    const int tiles = up(filters, windows.filters);
    whole_blocks(stream, std::int64_t{1} * tiles * row_blocks, windows.shared(),
                 FewChannelsForward<fours>{windows, y, bias, rows, tiles});
  });
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_FEW_CHANNELS_H_
