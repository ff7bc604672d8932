// Moving numbers about.  Neighboring threads write neighboring elements;
// where those of x lie along another extent, blocks transpose tiles.
//
// Sums run in double, in an order that the sizes alone determine.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "libcore/device/axes.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/kernel/reduce.h"

namespace dl::device::cuda {

namespace {

struct StridedPlace {
  std::int64_t y, x;
};
// Place of combination i of the extents.
DL_DEVICE inline StridedPlace place_of(const Axes& axes, std::int64_t i) {
  StridedPlace place{0, 0};
  for (int k = axes.count - 1; k >= 0; --k) {
    const Axis& axis = axes.axis[k];
    const std::int64_t rest = k == 0 ? 0 : i / axis.extent;
    const std::int64_t here = i - rest * axis.extent;
    place.y += here * axis.y;
    place.x += here * axis.x;
    i = rest;
  }
  return place;
}

void copy_axes(Stream& stream, const Axes& axes, Reals y, Reals x, bool add) {
  each(stream, axes.elements(), [=] DL_DEVICE(std::int64_t i) {
    const StridedPlace place = place_of(axes, i);
    const float value = x[place.x];
    y.set(place.y, add ? y[place.y] + value : value);
  });
}

// A block reads a tile along x and writes it along y.
struct TransposeTiles {
  Axes outer;
  Axis across, down;  // where x, and where y is contiguous
  std::int64_t tiles_across, tiles_down;
  unsigned side;
  Reals y, x;
  bool add;

  DL_DEVICE void operator()(const Block& b) const {
    const std::int64_t strip = b.index / tiles_down;
    const std::int64_t i = b.index % tiles_down * side;
    const std::int64_t j = strip % tiles_across * side;
    const StridedPlace place = place_of(outer, strip / tiles_across);
    float* const tile = reinterpret_cast<float*>(b.shared);
    for (unsigned k = b.thread; k < side * side; k += b.threads) {
      const unsigned row = k / side, column = k % side;
      if (i + row < down.extent && j + column < across.extent)
        tile[row * (side + 1) + column] =
            x[place.x + (i + row) * down.x + j + column];
    }
    b.sync();
    for (unsigned k = b.thread; k < side * side; k += b.threads) {
      const unsigned column = k / side, row = k % side;
      if (i + row >= down.extent || j + column >= across.extent) continue;
      const std::int64_t to = place.y + (j + column) * across.y + i + row;
      const float value = tile[row * (side + 1) + column];
      y.set(to, add ? y[to] + value : value);
    }
  }
};

void transpose(Stream& stream, Axes axes, int k, Reals y, Reals x, bool add) {
  constexpr unsigned kFloats = 5;  // of a tile, for each thread
  const unsigned threads = std::min(kThreads, stream.most_threads());
  unsigned side = 1;
  while (2 * side * (2 * side + 1) <= kFloats * threads) side *= 2;
  const Axis down = axes.take(axes.size() - 1), across = axes.take(k);
  const std::int64_t tiles_across = (across.extent + side - 1) / side;
  const std::int64_t tiles_down = (down.extent + side - 1) / side;
  blocks(stream, axes.elements() * tiles_across * tiles_down, threads,
         kFloats * sizeof(float),
         TransposeTiles{axes, across, down, tiles_across, tiles_down, side, y,
                        x, add});
}

// y += the sums of x over `terms`.
void sum_axes(Stream& stream, const Axes& kept, const Axes& terms, Reals y,
              Reals x) {
  constexpr std::int64_t kFew = 32, kMany = 1 << 16, kRows = 256;
  const std::int64_t results = kept.elements(), n = terms.elements();
  const auto item = [=] DL_DEVICE(std::int64_t i, std::int64_t t) {
    return double{x[place_of(kept, i).x + place_of(terms, t).x]};
  };
  const auto add = [=] DL_DEVICE(std::int64_t i, double sum) {
    const std::int64_t at = place_of(kept, i).y;
    y.set(at, y[at] + static_cast<float>(sum));
  };
  const bool in_rows =  // terms are closer together than results
      results >= kRows && n > kFew &&
      std::abs(terms[terms.size() - 1].x) < std::abs(kept[kept.size() - 1].x);
  if (in_rows) {
    reduce_rows(stream, results, n, 0.0, item, Sum{}, add);
  } else if (n <= kFew || results >= kMany) {
    each(stream, results, [=] DL_DEVICE(std::int64_t i) {
      const StridedPlace place = place_of(kept, i);
      double sum = 0;
      for (std::int64_t t = 0; t < n; ++t)
        sum += x[place.x + place_of(terms, t).x];
      y.set(place.y, y[place.y] + static_cast<float>(sum));
    });
  } else {
    sum_columns<double>(
        stream, n, results,
        [=] DL_DEVICE(std::int64_t t, std::int64_t i) { return item(i, t); },
        add);
  }
}

}  // namespace

void CudaDevice::copy_strided(const Strided& s, View y, View x, bool add) {
  check_reals({y, x});
  check_strided(s, y, x, add);
  if (moves_nothing(s)) return;
  const Loops loops = loops_of(s);
  const Reals to = Reals(y) + loops.y_offset, from = Reals(x) + loops.x_offset;
  constexpr std::int64_t kWorthIt = 8;
  const int across = contiguous_in_x(loops.kept, kWorthIt);
  if (loops.terms.size() > 0)
    sum_axes(stream_, loops.kept, loops.terms, to, from);
  else if (across >= 0)
    transpose(stream_, loops.kept, across, to, from, add);
  else
    copy_axes(stream_, loops.kept, to, from, add);
}

}  // namespace dl::device::cuda
