// Tiles are worked on in blocks whose transforms stay in the cache.  Where one
// block holds all, filters are worked on in blocks too: the transformed
// weights, four times as large as the weights, never go to memory as a whole.

#include "libcore/device/cpu/winograd.h"

#include <algorithm>

#include "libcore/device/cpu/kernels/kernels.h"

namespace dl::device {
namespace {

constexpr std::int64_t kCached = 150'000;  // floats of a block's transforms
constexpr std::int64_t kFewestTiles = 48, kMostTiles = 240;
constexpr std::int64_t kFilters = 64;  // of a block

struct Images {
  std::int64_t height, width, channels;
  std::int64_t elements() const { return height * width * channels; }
};

// A correlation of images `in` with square weights; what comes out are images
// `out`.
struct Correlation {
  Images in, out;
  std::int64_t top, left;  // padding
  std::int64_t taps;       // of a side

  const WinogradKernels& kernels() const {
    return best_kernels().winograd[taps - 2];
  }
  std::int64_t points() const { return kernels().points; }
  std::int64_t all_points() const { return points() * points(); }
  // Number of outputs of a tile.
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

// Blocks worked on at a time, and their places in the scratch memory. Frozen
// weights are elsewhere, and of all filters.
struct Blocks {
  Blocks(const Correlation& c, std::int64_t batch, bool frozen = false)
      : in(c.in.channels),
        all(batch * c.tiles()),
        points(c.all_points()),
        tiles(std::min(
            all, std::clamp(kCached / points / std::max(in, c.out.channels),
                            kFewestTiles, kMostTiles))),
        filters(tiles == all && !frozen ? std::min(c.out.channels, kFilters)
                                        : c.out.channels),
        results(points * tiles * in),
        weights(results + points * tiles * filters),
        turned(weights + (frozen ? 0 : points * Packed::floats(in, filters))),
        outside(turned + (frozen ? 0 : c.taps * c.taps * in * filters)),
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

const float* zeros(float* to, std::int64_t count) {
  std::fill_n(to, count, 0.0f);
  return to;
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

// To to[points, b.tiles, in]; outside: zeros.
void transform_inputs(const Correlation& c, const Blocks& b, const float* x,
                      std::int64_t first, std::int64_t count, float* to,
                      const float* outside) {
  each_tile(c, first, count,
            [&](std::int64_t i, std::int64_t image, std::int64_t row,
                std::int64_t column) {
              const float* at[kMostPixels];
              pixels(at, c.points(), x + image * c.in.elements(), c.in,
                     row - c.top, column - c.left, outside);
              c.kernels().input(to + i * b.in, b.tiles * b.in, at, b.in);
            });
}

// Transforms `filters` channels from y on, from from[points, b.tiles, filters];
// outside: what is written there is of no use.
void transform_results(const Correlation& c, const Blocks& b, float* y,
                       std::int64_t first, std::int64_t count,
                       std::int64_t filters, const float* bias,
                       const float* from, float* outside) {
  each_tile(c, first, count,
            [&](std::int64_t i, std::int64_t image, std::int64_t row,
                std::int64_t column) {
              float* at[kMostPixels];
              pixels(at, c.side(), y + image * c.out.elements(), c.out, row,
                     column, outside);
              c.kernels().output(at, from + i * filters, b.tiles * filters,
                                 bias, filters);
            });
}

void transform_gradients(const Correlation& c, const Blocks& b, const float* dy,
                         std::int64_t first, std::int64_t count,
                         std::int64_t filters, float* scratch) {
  const float* outside = zeros(scratch + b.outside, filters);
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
        transform_inputs(c, b, x, first, count, scratch,
                         zeros(scratch + b.outside, b.in));
      for (std::int64_t p = 0; p < b.points; ++p)
        gemm(products, scratch + b.results + p * b.tiles * filters, filters,
             count, {scratch + p * b.tiles * b.in, b.in, 1},
             b.weights_of(p, filters, scratch), {});
      transform_results(c, b, y + f, first, count, filters,
                        bias ? bias + f : nullptr, scratch + b.results,
                        scratch + b.outside);
    }
  }
}

// Transforms the filters from `first` on, as many as to.n, to[point] with
// `step` floats from one to the next. Transforms go over neighboring filters;
// in w, channels are neighbors. turned: room, [taps, taps, in, filters].
void transform_weights(const Correlation& c, const float* w, std::int64_t first,
                       const Packed& to, std::int64_t step, float* turned) {
  const std::int64_t in = c.in.channels, filters = to.n;
  const std::int64_t row = c.taps * c.taps * in;
  const std::int64_t lanes = best_kernels().lanes;
  for (std::int64_t f = 0; f < filters; f += lanes)
    best_kernels().transpose(turned + f, filters, w + (first + f) * row, row,
                             static_cast<int>(lanes), row);
  for (std::int64_t f = 0; f < filters; f += lanes)
    for (std::int64_t i = 0; i < in; ++i)
      c.kernels().weights(to.at(i, f), step, turned + i * filters + f,
                          in * filters, lanes);
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

std::int64_t Winograd::frozen_scratch(std::int64_t batch) const {
  return Blocks(forward_of(spec_), batch, true).end;
}

void Winograd::forward(std::int64_t batch, float* y, const float* x,
                       const float* w, const float* bias, float* scratch) {
  const Correlation c = forward_of(spec_);
  const auto pack = [&](const Blocks& b, std::int64_t first,
                        std::int64_t filters) {
    transform_weights(c, w, first, b.weights_of(0, filters, scratch),
                      Packed::floats(b.in, b.filters), scratch + b.turned);
  };
  correlate(c, batch, y, x, bias, scratch, products_, pack);
}

void Winograd::freeze(const float* w, const float* bias) {
  const Correlation c = forward_of(spec_);
  const std::int64_t in = c.in.channels, filters = c.out.channels;
  auto frozen = std::make_shared<Frozen>();
  frozen->step = Packed::floats(in, filters);
  frozen->weights.resize(tensor::DType::kF32, {c.all_points() * frozen->step});
  std::vector<float> turned(
      static_cast<std::size_t>(c.taps * c.taps * in * filters));
  transform_weights(c, w, 0, frozen->at(0, in, filters), frozen->step,
                    turned.data());
  frozen->bias.assign(static_cast<std::size_t>(filters), 0.0f);
  if (bias) std::copy_n(bias, filters, frozen->bias.data());
  frozen_ = std::move(frozen);
}

void Winograd::forward_frozen(
    std::int64_t batch, float* y, const float* x, float* scratch,
    Spread& spread,
    const std::function<void(std::int64_t, std::int64_t)>& finish) {
  const Correlation c = forward_of(spec_);
  const Blocks b(c, batch, true);
  const auto outside = [&](int part) {
    if (part == 0) return scratch + b.outside;
    OneDnn& own = spread.part(part).dnn;
    own.reserve_scratch(static_cast<std::size_t>(b.filters) * sizeof(float));
    return reinterpret_cast<float*>(own.scratch.bytes().data());
  };
  std::int64_t finished = 0;  // images
  for (std::int64_t first = 0; first < b.all; first += b.tiles) {
    const std::int64_t count = std::min(b.tiles, b.all - first);
    const int parts = spread.parts(static_cast<double>(b.points * count) *
                                   static_cast<double>(b.in * b.filters));
    const auto share = [&](std::int64_t n, int part, auto work) {
      const std::int64_t from = n * part / parts;
      work(from, n * (part + 1) / parts - from);
    };
    const float* padding = zeros(scratch + b.outside, b.in);
    spread.run(parts, [&](int part) {
      share(count, part, [&](std::int64_t from, std::int64_t tiles) {
        transform_inputs(c, b, x, first + from, tiles, scratch + from * b.in,
                         padding);
      });
    });
    spread.run(parts, [&](int part) {
      share(b.points, part, [&](std::int64_t from, std::int64_t points) {
        for (std::int64_t p = from; p < from + points; ++p)
          gemm(part == 0 ? products_ : spread.part(part).scratch,
               scratch + b.results + p * b.tiles * b.filters, b.filters, count,
               {scratch + p * b.tiles * b.in, b.in, 1},
               frozen_->at(p, b.in, b.filters), {});
      });
    });
    spread.run(parts, [&](int part) {
      share(count, part, [&](std::int64_t from, std::int64_t tiles) {
        transform_results(
            c, b, y, first + from, tiles, b.filters, frozen_->bias.data(),
            scratch + b.results + from * b.filters, outside(part));
      });
    });
    const std::int64_t whole = (first + count) / c.tiles();
    if (whole > finished) finish(finished, whole - finished);
    finished = whole;
  }
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
        transform_inputs(c, b, x, first, count, scratch,
                         zeros(scratch + b.outside, b.in));
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
