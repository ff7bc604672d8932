// Tiles are worked on in blocks whose transforms stay in the cache.  Where one
// block holds all, filters are worked on in blocks too: the transformed
// weights, four times as large as the weights, never go to memory as a whole.

#include "libcore/device/cpu/winograd.h"

#include <algorithm>

#include "libcore/device/cpu/kernels/kernels.h"

namespace dl::device {
namespace {

using tensor::Conv2dSpec;

constexpr std::int64_t kCached = 150'000;  // floats of a block's transforms
constexpr std::int64_t kFewestTiles = 48, kMostTiles = 240;
constexpr std::int64_t kFilters = 64;  // of a block

struct Images {
  std::int64_t height, width, channels;
  std::int64_t elements() const { return height * width * channels; }
};

// Of images `in` with square weights; what comes out are images `out`.
struct Correlation {
  Images in, out;
  std::int64_t top, left;  // padding
  std::int64_t taps;       // of a side

  const WinogradKernels& kernels() const {
    return best_kernels().winograd[taps - 2];
  }
  std::int64_t points() const { return kernels().points; }
  std::int64_t all_points() const { return points() * points(); }
  // Of a tile's outputs.
  std::int64_t side() const { return points() + 1 - taps; }
  std::int64_t down() const { return (out.height + side() - 1) / side(); }
  std::int64_t across() const { return (out.width + side() - 1) / side(); }
  std::int64_t tiles() const { return down() * across(); }
};

Correlation forward_of(const Conv2dSpec& s) {
  return {.in = {s.height, s.width, s.channels},
          .out = {s.out_height(), s.out_width(), s.filters},
          .top = s.pad_begin[0],
          .left = s.pad_begin[1],
          .taps = s.kernel[0]};
}

Correlation backward_of(const Conv2dSpec& s) {
  const Correlation c = forward_of(s);
  return {.in = c.out,
          .out = c.in,
          .top = c.taps - 1 - c.top,
          .left = c.taps - 1 - c.left,
          .taps = c.taps};
}

// What is worked on at a time, and where in the scratch it lies.
struct Blocks {
  Blocks(const Correlation& c, std::int64_t batch)
      : in(c.in.channels),
        all(batch * c.tiles()),
        points(c.all_points()),
        tiles(std::min(
            all, std::clamp(kCached / points / std::max(in, c.out.channels),
                            kFewestTiles, kMostTiles))),
        filters(tiles == all ? std::min(c.out.channels, kFilters)
                             : c.out.channels),
        results(points * tiles * in),
        weights(results + points * tiles * filters),
        turned(weights + points * Packed::floats(in, filters)),
        outside(turned + c.taps * c.taps * in * filters),
        end(outside + std::max(in, c.out.channels)) {}

  Packed weights_of(std::int64_t point, std::int64_t count,
                    float* scratch) const {
    return {scratch + weights + point * Packed::floats(in, filters), in, count};
  }

  std::int64_t in, all;         // channels, tiles
  std::int64_t points;          // of a tile
  std::int64_t tiles, filters;  // of a block
  // Transformed inputs, [points, tiles, in], come first; then results, [points,
  // tiles, filters]; weights, or their gradients; weights [taps, taps, in,
  // filters]; a pixel outside the images.
  std::int64_t results, weights, turned, outside, end;
};

constexpr int kMostPixels = 36;

// Where the pixels of a square lie; `outside` where it hangs over the image.
template <typename T>
void pixels(T* (&at)[kMostPixels], std::int64_t side, T* image,
            const Images& size, std::int64_t top, std::int64_t left,
            T* outside) {
  for (std::int64_t i = 0; i < side; ++i)
    for (std::int64_t j = 0; j < side; ++j) {
      const std::int64_t row = top + i, column = left + j;
      const bool inside =
          row >= 0 && row < size.height && column >= 0 && column < size.width;
      at[i * side + j] =
          inside ? image + (row * size.width + column) * size.channels
                 : outside;
    }
}

// f(i, image, row, column) for `count` tiles from `first` on.
template <typename F>
void each_tile(const Correlation& c, std::int64_t first, std::int64_t count,
               F f) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t tile = first + i, inner = tile % c.tiles();
    f(i, tile / c.tiles(), c.side() * (inner / c.across()),
      c.side() * (inner % c.across()));
  }
}

void transform_inputs(const Correlation& c, const Blocks& b, const float* x,
                      std::int64_t first, std::int64_t count, float* scratch) {
  const float* outside = std::fill_n(scratch + b.outside, b.in, 0.0f) - b.in;
  each_tile(c, first, count,
            [&](std::int64_t i, std::int64_t image, std::int64_t row,
                std::int64_t column) {
              const float* at[kMostPixels];
              pixels(at, c.points(), x + image * c.in.elements(), c.in,
                     row - c.top, column - c.left, outside);
              c.kernels().input(scratch + i * b.in, b.tiles * b.in, at, b.in);
            });
}

// Of `filters` channels from y on.
void transform_results(const Correlation& c, const Blocks& b, float* y,
                       std::int64_t first, std::int64_t count,
                       std::int64_t filters, const float* bias,
                       float* scratch) {
  each_tile(c, first, count,
            [&](std::int64_t i, std::int64_t image, std::int64_t row,
                std::int64_t column) {
              float* at[kMostPixels];
              pixels(at, c.side(), y + image * c.out.elements(), c.out, row,
                     column, scratch + b.outside);
              c.kernels().output(at, scratch + b.results + i * filters,
                                 b.tiles * filters, bias, filters);
            });
}

void transform_gradients(const Correlation& c, const Blocks& b, const float* dy,
                         std::int64_t first, std::int64_t count,
                         std::int64_t filters, float* scratch) {
  const float* outside =
      std::fill_n(scratch + b.outside, filters, 0.0f) - filters;
  each_tile(c, first, count,
            [&](std::int64_t i, std::int64_t image, std::int64_t row,
                std::int64_t column) {
              const float* at[kMostPixels];
              pixels(at, c.side(), dy + image * c.out.elements(), c.out, row,
                     column, outside);
              c.kernels().output_gradient(scratch + b.results + i * filters,
                                          b.tiles * filters, at, filters);
            });
}

// pack(filter, count) transforms the weights of some filters.
template <typename Pack>
void correlate(const Correlation& c, std::int64_t batch, float* y,
               const float* x, const float* bias, float* scratch,
               GemmScratch& products, Pack pack) {
  const Blocks b(c, batch);
  for (std::int64_t f = 0; f < c.out.channels; f += b.filters) {
    const std::int64_t filters = std::min(b.filters, c.out.channels - f);
    pack(b, f, filters);
    for (std::int64_t first = 0; first < b.all; first += b.tiles) {
      const std::int64_t count = std::min(b.tiles, b.all - first);
      if (f == 0 || b.tiles < b.all)  // else they are there
        transform_inputs(c, b, x, first, count, scratch);
      for (std::int64_t p = 0; p < b.points; ++p)
        gemm(products, scratch + b.results + p * b.tiles * filters, filters,
             count, {scratch + p * b.tiles * b.in, b.in, 1},
             b.weights_of(p, filters, scratch), {});
      transform_results(c, b, y + f, first, count, filters,
                        bias ? bias + f : nullptr, scratch);
    }
  }
}

}  // namespace

bool Winograd::suits(const Conv2dSpec& s) {
  const std::int64_t taps = s.kernel[0];
  if (taps < 2 || taps > 4 || s.kernel[1] != taps || s.groups != 1 ||
      s.channels % 16 != 0 || s.filters % 16 != 0 ||
      std::min(s.channels, s.filters) < (taps == 3 ? 16 : 32))
    return false;
  for (int i = 0; i < 2; ++i)
    if (s.stride[i] != 1 || s.dilation[i] != 1 || s.pad_begin[i] >= taps)
      return false;
  const Correlation c = forward_of(s);
  return taps * taps * s.out_height() * s.out_width() >=
         2 * c.all_points() * c.tiles();
}

Winograd::Winograd(const Conv2dSpec& spec, GemmScratch& products)
    : spec_(spec), products_(products) {}

std::int64_t Winograd::scratch(std::int64_t batch) const {
  return std::max(Blocks(forward_of(spec_), batch).end,
                  Blocks(backward_of(spec_), batch).end);
}

// Transforms go over neighbouring filters; in w, channels are neighbours.
void Winograd::forward(std::int64_t batch, float* y, const float* x,
                       const float* w, const float* bias, float* scratch) {
  const Correlation c = forward_of(spec_);
  const std::int64_t row = c.taps * c.taps * spec_.channels;
  const std::int64_t lanes = best_kernels().lanes;
  const auto pack = [&](const Blocks& b, std::int64_t first,
                        std::int64_t filters) {
    float* turned = scratch + b.turned;
    for (std::int64_t f = 0; f < filters; f += lanes)
      best_kernels().transpose(turned + f, filters, w + (first + f) * row, row,
                               static_cast<int>(lanes), row);
    const Packed to = b.weights_of(0, filters, scratch);
    const std::int64_t step = Packed::floats(b.in, b.filters);
    for (std::int64_t f = 0; f < filters; f += lanes)
      for (std::int64_t i = 0; i < b.in; ++i)
        c.kernels().weights(to.at(i, f), step, turned + i * filters + f,
                            b.in * filters, lanes);
  };
  correlate(c, batch, y, x, bias, scratch, products_, pack);
}

// A correlation of dy with the weights turned about.
void Winograd::backward_data(std::int64_t batch, float* dx, const float* dy,
                             const float* w, float* scratch) {
  const Correlation c = backward_of(spec_);
  const std::int64_t taps = c.taps * c.taps, lanes = best_kernels().lanes;
  const auto pack = [&](const Blocks& b, std::int64_t first,
                        std::int64_t channels) {
    const Packed to = b.weights_of(0, channels, scratch);
    const std::int64_t step = Packed::floats(b.in, b.filters);
    for (std::int64_t i = 0; i < channels; i += lanes)
      for (std::int64_t f = 0; f < b.in; ++f)
        c.kernels().weights(
            to.at(f, i), step,
            w + (f * taps + taps - 1) * spec_.channels + first + i,
            -spec_.channels, lanes);
  };
  correlate(c, batch, dx, dy, nullptr, scratch, products_, pack);
}

void Winograd::backward_weights(std::int64_t batch, float* dw, const float* x,
                                const float* dy, float* scratch) {
  const Correlation c = forward_of(spec_);
  const Blocks b(c, batch);
  float* du = scratch + b.weights;  // [points, filters, in]
  for (std::int64_t f = 0; f < spec_.filters; f += b.filters) {
    const std::int64_t filters = std::min(b.filters, spec_.filters - f);
    for (std::int64_t first = 0; first < b.all; first += b.tiles) {
      const std::int64_t count = std::min(b.tiles, b.all - first);
      if (f == 0 || b.tiles < b.all)  // else they are there
        transform_inputs(c, b, x, first, count, scratch);
      transform_gradients(c, b, dy + f, first, count, filters, scratch);
      for (std::int64_t p = 0; p < b.points; ++p)
        gemm(products_, du + p * filters * b.in, b.in, filters, b.in, count,
             {scratch + b.results + p * b.tiles * filters, 1, filters},
             {scratch + p * b.tiles * b.in, b.in, 1}, {.add = first > 0});
    }
    for (std::int64_t i = 0; i < filters; ++i)
      c.kernels().weights_gradient(dw + (f + i) * c.taps * c.taps * b.in, b.in,
                                   du + i * b.in, filters * b.in, b.in);
  }
}

}  // namespace dl::device
