// Convolution of images of few channels with max pooling: what loses is never
// written.  A thread's four windows are those that a maximum is taken of.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_FEW_CHANNELS_POOL_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_FEW_CHANNELS_POOL_H_

#include <cstdint>

#include "libcore/device/cuda/conv/four_windows.h"

namespace dl::device::cuda {

// [images, height / 2, width / 2, filters]: y, and which of a maximum's four it
// was, row by row: the first of equals, a NaN before any number.
struct Pooled {
  int images, height, width, filters;
  Divisor by_image, by_width;

  static Pooled of(const ConvAxes& axes, int images, int filters) {
    const int height = axes[1].positions / 2, width = axes[2].positions / 2;
    return {images,
            height,
            width,
            filters,
            Divisor::of(height * width),
            Divisor::of(width)};
  }
  int rows() const { return images * in_image(); }
  int elements() const { return rows() * filters; }
  DL_BOTH int in_image() const { return height * width; }
};

template <int fours>
struct FewChannelsMaxPool {
  static constexpr int kTogether = 2;
  FourWindows<fours> windows;
  Pooled pooled;
  float* y;
  std::uint8_t* chosen;
  const float* bias;  // or null
  bool relu;
  int rows, tiles;

  DL_DEVICE void operator()(const Block& b) const {
    const int at_row = static_cast<int>(b.index) / tiles;
    const int first =
        (static_cast<int>(b.index) - at_row * tiles) * windows.filters;
    windows.load(b, first);
    const int row =
        at_row * static_cast<int>(b.threads) + static_cast<int>(b.thread);
    if (row >= rows) return;
    Pixels::At at[4];
    DL_UNROLL
    for (int j = 0; j < 4; ++j) at[j] = position(row, j);
    typename FourWindows<fours>::Sums sums = {};
    windows.add(b, sums, at);
    const std::int64_t to = std::int64_t{row} * windows.all_filters + first;
    const bool vectors = windows.all_filters % 4 == 0 &&
                         reinterpret_cast<std::uintptr_t>(y) % 16 == 0;
    DL_UNROLL
    for (int i = 0; i < fours; ++i) put(to, first, i, vectors, sums);
  }

 private:
  DL_DEVICE Pixels::At position(int row, int j) const {
    const Pixels& p = windows.pixels;
    const int image = pooled.by_image.quotient(row);
    const int in_image = pooled.by_image.rest(row, image);
    const int h = pooled.by_width.quotient(in_image);
    const int w = pooled.by_width.rest(in_image, h);
    Pixels::At at{};
    at.h = (2 * h + j / 2) * p.h.step + p.h.first;
    at.w = (2 * w + j % 2) * p.w.step + p.w.first;
    at.offset = image * p.example + p.offset(0, at.h, at.w);
    return at;
  }

  // The i-th four of the tile's filters.
  DL_DEVICE void put(std::int64_t to, int first, int i, bool vectors,
                     const typename FourWindows<fours>::Sums& sums) const {
    float best[4];
    std::uint8_t which[4];
    DL_UNROLL
    for (int v = 0; v < 4; ++v) {
      const int f = 4 * i + v;
      best[v] = sums[0][f];
      which[v] = 0;
      DL_UNROLL
      for (int j = 1; j < 4; ++j)
        if (!(sums[j][f] <= best[v]) && best[v] == best[v]) {
          best[v] = sums[j][f];
          which[v] = static_cast<std::uint8_t>(j);
        }
      if (bias != nullptr && first + f < windows.all_filters)
        best[v] += bias[first + f];
      if (relu && best[v] < 0) best[v] = 0;
    }
    to += 4 * i;
    if (first + 4 * i >= windows.all_filters) return;
    if (vectors) {
      *reinterpret_cast<float4*>(y + to) = {best[0], best[1], best[2], best[3]};
      *reinterpret_cast<uchar4*>(chosen + to) = {which[0], which[1], which[2],
                                                 which[3]};
      return;
    }
    DL_UNROLL
    for (int v = 0; v < 4; ++v) {
      if (first + 4 * i + v >= windows.all_filters) break;
      y[to + v] = best[v];
      chosen[to + v] = which[v];
    }
  }
};

inline void few_channels_max_pool(Stream& stream, const Pixels& pixels,
                                  const Pooled& pooled, float* y,
                                  std::uint8_t* chosen, const float* x,
                                  const float* w, const float* bias,
                                  bool relu) {
  const int rows = pooled.rows(), filters = pooled.filters;
  const int window = pixels.h.taps * pixels.w.taps * pixels.channels;
  const int row_blocks = up(rows, static_cast<int>(kThreads));
  with_filter_tile(stream, filters, row_blocks, [&]<int fours>() {
    const FourWindows<fours> windows{pixels, x, w, window, filters};
    const int tiles = up(filters, windows.filters);
    whole_blocks(stream, std::int64_t{1} * tiles * row_blocks, windows.shared(),
                 FewChannelsMaxPool<fours>{windows, pooled, y, chosen, bias,
                                           relu, rows, tiles});
  });
}

// The gradient of what pooling took its maxima of, [images, positions,
// filters].
struct Unpooled {
  Pooled pooled;
  float* to;
  const float* dy;
  const std::uint8_t* chosen;
  int height, width;  // positions

  DL_DEVICE void operator()(std::int64_t i) const {
    const auto row = static_cast<int>(i / pooled.filters);
    const int f = static_cast<int>(i - std::int64_t{row} * pooled.filters);
    const int line = row / width, w = row - line * width;
    const int n = line / height, h = line - n * height;
    float slope = 0;
    if (h / 2 < pooled.height && w / 2 < pooled.width) {
      const std::int64_t at =
          (std::int64_t{n * pooled.height + h / 2} * pooled.width + w / 2) *
              pooled.filters +
          f;
      if (chosen[at] == h % 2 * 2 + w % 2) slope = dy[at];
    }
    to[i] = slope;
  }
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_FEW_CHANNELS_POOL_H_
