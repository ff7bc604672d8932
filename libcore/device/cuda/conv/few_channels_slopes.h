// The gradient of the weights of few_channels_pool.h, of the windows alone that
// a maximum was in.
//
// A block has some images, one after the other in shared memory with zeros
// around it, and a tile of filters.  A thread has a filter, and of the pooled
// positions each so-manieth: it adds up what the window that was chosen there
// has at `taps` places.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_FEW_CHANNELS_SLOPES_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_FEW_CHANNELS_SLOPES_H_

#include <algorithm>
#include <cstdint>

#include "libcore/device/cuda/conv/few_channels_pool.h"
#include "libcore/device/cuda/conv/range_sums.h"

namespace dl::device::cuda {

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
    // The next values are loaded meanwhile.
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

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_FEW_CHANNELS_SLOPES_H_
