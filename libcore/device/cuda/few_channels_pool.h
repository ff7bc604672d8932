// Convolution of images of few channels with max pooling: what loses is never
// written, nor are the zeros of its gradient.
//
// forward(): a thread's four windows are those that a maximum is taken of.
//
// Gradient of the weights: a block has some images, one after the other in
// shared memory with zeros around it, and a tile of filters.  A thread has a
// filter, and of the pooled positions each so-manieth: it adds up what the
// window that was chosen there has at `taps` places.

#ifndef DL_LIBCORE_DEVICE_CUDA_FEW_CHANNELS_POOL_H_
#define DL_LIBCORE_DEVICE_CUDA_FEW_CHANNELS_POOL_H_

#include <algorithm>
#include <cstdint>

#include "libcore/device/cuda/four_windows.h"
#include "libcore/device/cuda/range_sums.h"

namespace dl::device::cuda {

// [images, height / 2, width / 2, filters]: y, and which of a maximum's four it
// was, row by row: the first of equals, a NaN before any number.
struct Pooled {
  int images, height, width, filters;
  Divisor by_image, by_width;

  static Pooled of(const Axes& axes, int images, int filters) {
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

struct MaxPoolSlopes {
  static constexpr int kTogether = 3;
  static constexpr int taps = 27;  // three channels of 3x3, or one of 5x5
  static constexpr int kWidest = 64;

  Pixels pixels;
  Pooled pooled;
  const float *x, *dy;
  const std::uint8_t* chosen;
  float* partial;     // [ranges, sums()]: of weights, then of biases
  int window, each;   // numbers; images of a range
  int height, width;  // of an image in shared memory
  int filters;        // of a tile
  int filter_tiles, tap_tiles;
  Divisor by_line, by_channels;

  static MaxPoolSlopes of(const Pixels& pixels, const Pooled& pooled) {
    MaxPoolSlopes s{};
    s.pixels = pixels;
    s.pooled = pooled;
    s.window = pixels.h.taps * pixels.w.taps * pixels.channels;
    const auto needed = [](const ConvAxis& axis, int outputs) {
      return (2 * outputs - 1) * axis.step + (axis.taps - 1) * axis.tap_step +
             1;
    };
    s.height = needed(pixels.h, pooled.height);
    s.width = needed(pixels.w, pooled.width);
    s.filters = std::min(pooled.filters, kWidest);
    s.filter_tiles = up(pooled.filters, s.filters);
    s.tap_tiles = up(s.window, taps);
    s.by_line = Divisor::of(s.width * pixels.channels);
    s.by_channels = Divisor::of(pixels.channels);
    return s;
  }
  DL_BOTH int image() const { return height * width * pixels.channels; }
  DL_BOTH int sums() const { return pooled.filters * (window + 1); }
  std::size_t shared() const {  // bytes
    return sizeof(float) *
           std::max<std::size_t>(image(), (taps + 1) * kThreads);
  }

  struct Part {
    int filter, slot, slots;  // filter: of the tile
    int first_filter, first_tap, range;
  };
  DL_DEVICE Part part_of(const Block& b) const {
    int index = static_cast<int>(b.index);
    const int thread = static_cast<int>(b.thread);
    Part p{};
    p.first_tap = index % tap_tiles * taps;
    index /= tap_tiles;
    p.first_filter = index % filter_tiles * filters;
    p.range = index / filter_tiles;
    p.slot = thread / filters;
    p.filter = thread - p.slot * filters;
    p.slots = static_cast<int>(b.threads) / filters;
    return p;
  }

  DL_DEVICE void load(const Block& b, int n) const {
    float* const to = reinterpret_cast<float*>(b.shared);
    for (int i = static_cast<int>(b.thread); i < image();
         i += static_cast<int>(b.threads)) {
      const int line = by_line.quotient(i), in_line = by_line.rest(i, line);
      const int column = by_channels.quotient(in_line);
      const int h = line + pixels.h.first, w = column + pixels.w.first;
      const bool inside =
          h >= 0 && h < pixels.h.pixels && w >= 0 && w < pixels.w.pixels;
      to[i] = inside ? x[n * pixels.example + pixels.offset(0, h, w) +
                         by_channels.rest(in_line, column)]
                     : 0.0F;
    }
  }

  // Where in that image the window of a pooled position's j-th begins.
  DL_DEVICE int begin(int at, int j) const {
    const int h = pooled.by_width.quotient(at);
    const int w = pooled.by_width.rest(at, h);
    return ((2 * h + j / 2) * pixels.h.step * width +
            (2 * w + j % 2) * pixels.w.step) *
           pixels.channels;
  }
  DL_DEVICE int offset(int k) const {
    const int tap = k / pixels.channels, h = tap / pixels.w.taps;
    return (h * pixels.h.tap_step * width +
            (tap - h * pixels.w.taps) * pixels.w.tap_step) *
               pixels.channels +
           k - tap * pixels.channels;
  }

  DL_DEVICE void operator()(const Block& b) const {
    const Part part = part_of(b);
    const bool works = part.slot < part.slots &&
                       part.first_filter + part.filter < pooled.filters;
    int offsets[taps];
    DL_UNROLL
    for (int k = 0; k < taps; ++k)
      offsets[k] = part.first_tap + k < window ? offset(part.first_tap + k) : 0;
    float found[taps] = {}, bias = 0;
    const int last = (part.range + 1) * each;
    const int end = last < pooled.images ? last : pooled.images;
    for (int n = part.range * each; n < end; ++n) {
      load(b, n);
      b.sync();
      if (works) add_image(b, part, n, offsets, found, bias);
      b.sync();
    }
    put(b, part, found, bias);
  }

  DL_DEVICE void add_image(const Block& b, const Part& part, int n,
                           const int (&offsets)[taps], float (&found)[taps],
                           float& bias) const {
    const float* const image = reinterpret_cast<const float*>(b.shared);
    const int count = pooled.in_image();
    const int from = part.first_filter + part.filter;
    const auto place = [&](int at) {
      return std::int64_t{n * count + at} * pooled.filters + from;
    };
    // What comes next is on its way meanwhile.
    float slope = 0;
    int which = 0;
    if (part.slot < count) {
      slope = dy[place(part.slot)];
      which = chosen[place(part.slot)];
    }
    for (int at = part.slot; at < count; at += part.slots) {
      const float now = slope;
      const float* const window_at = image + begin(at, which);
      if (at + part.slots < count) {
        slope = dy[place(at + part.slots)];
        which = chosen[place(at + part.slots)];
      }
      bias += now;
      DL_UNROLL
      for (int k = 0; k < taps; ++k) found[k] += now * window_at[offsets[k]];
    }
  }

  // Adds up what the slots have.
  DL_DEVICE void put(const Block& b, const Part& part,
                     const float (&found)[taps], float bias) const {
    float* const all = reinterpret_cast<float*>(b.shared);
    const int threads = static_cast<int>(b.threads);
    DL_UNROLL
    for (int k = 0; k < taps; ++k) all[k * threads + b.thread] = found[k];
    all[taps * threads + b.thread] = bias;
    b.sync();
    float* const to = partial + std::int64_t{part.range} * sums();
    for (int i = static_cast<int>(b.thread); i < (taps + 1) * filters;
         i += threads) {
      const int k = i / filters, in_tile = i - k * filters;
      const int f = part.first_filter + in_tile, tap = part.first_tap + k;
      if (f >= pooled.filters ||
          (k < taps ? tap >= window : part.first_tap > 0))
        continue;
      float sum = 0;
      for (int s = 0; s < part.slots; ++s)
        sum += all[k * threads + s * filters + in_tile];
      to[k < taps ? f * window + tap : pooled.filters * window + f] = sum;
    }
  }
};

// db may be null.
struct PutMaxPoolSlope {
  float *dw, *db;
  std::int64_t weights;
  DL_DEVICE void operator()(std::int64_t i, float sum) const {
    if (i < weights)
      dw[i] = sum;
    else if (db != nullptr)
      db[i - weights] = sum;
  }
};

// slopes: of MaxPoolSlopes::of(), with the arrays.
inline void few_channels_slopes(Stream& stream, MaxPoolSlopes slopes, float* dw,
                                float* db) {
  const int busy = static_cast<int>(busy_blocks(stream) * 3 / 2);
  const int tiles = slopes.filter_tiles * slopes.tap_tiles;
  slopes.each = up(slopes.pooled.images, std::max(1, busy / tiles));
  const int ranges = up(slopes.pooled.images, slopes.each);
  slopes.partial =
      stream.scratch<float>(std::int64_t{1} * ranges * slopes.sums());
  whole_blocks(stream, std::int64_t{1} * ranges * tiles, slopes.shared(),
               slopes);
  sum_ranges(
      stream, slopes.partial, ranges, slopes.sums(),
      PutMaxPoolSlope{dw, db,
                      std::int64_t{1} * slopes.pooled.filters * slopes.window});
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

#endif  // DL_LIBCORE_DEVICE_CUDA_FEW_CHANNELS_POOL_H_
