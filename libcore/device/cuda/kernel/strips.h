// Kernels over arrays [examples, rows, columns] whose threads keep to a column,
// so that what it has of its own is looked up once.  Neighbors in a block take
// neighboring columns.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_STRIPS_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_STRIPS_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "libcore/device/cuda/kernel/reals.h"

namespace dl::device::cuda {

// Divisions of 64 bits take several times as long.
DL_DEVICE inline std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if ((a | b) >> 32 == 0)
    return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  return a / b;
}

// One thread's part of a column of an example: the elements begin, begin +
// step, .. below end.
struct Strip {
  std::int64_t example, range, column;
  std::int64_t begin, end, step;
};

// to[at] = f(at) for the strip's elements, where f may read to[at]; several are
// read before they are written, so that reads do not wait for each other.
template <class F>
DL_DEVICE void write_strip(const Strip& s, const Reals& to, const F& f) {
  constexpr int kAtOnce = 4;
  std::int64_t at = s.begin;
  for (; at + (kAtOnce - 1) * s.step < s.end; at += kAtOnce * s.step) {
    float values[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i) values[i] = f(at + i * s.step);
    for (int i = 0; i < kAtOnce; ++i) to.set(at + i * s.step, values[i]);
  }
  for (; at < s.end; at += s.step) to.set(at, f(at));
}

// How blocks divide the array: tiles of `wide` columns, ranges of rows.
struct StripGrid {
  std::int64_t examples, rows, columns;
  std::int64_t tiles, ranges, rows_each;
  unsigned wide;

  std::int64_t blocks() const { return examples * ranges * tiles; }
  // Strip of a column that may be past the last.
  DL_DEVICE Strip strip(const Block& b) const {
    const std::int64_t across = quotient(b.index, tiles);
    Strip s;
    s.example = quotient(across, ranges);
    s.range = across - s.example * ranges;
    s.column = (b.index - across * tiles) * wide + b.thread % wide;
    const std::int64_t first = s.range * rows_each;
    const std::int64_t last =
        first + rows_each < rows ? first + rows_each : rows;
    const std::int64_t before = s.example * rows;
    s.begin = (before + first + b.thread / wide) * columns + s.column;
    s.end = (before + last) * columns;
    s.step = b.threads / wide * columns;
    return s;
  }
};

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();

// Threads have `each` rows, or more where that makes more than most_ranges.
inline StripGrid strip_grid(const Stream& stream, std::int64_t examples,
                            std::int64_t rows, std::int64_t columns,
                            std::int64_t each,
                            std::int64_t most_ranges = kAnyNumber) {
  const unsigned threads = std::min(kThreads, stream.most_threads());
  unsigned wide = 1;
  while (wide < 32 && wide < threads && wide < columns) wide *= 2;
  const std::int64_t least = each * (threads / wide);
  const std::int64_t ranges =
      std::clamp<std::int64_t>((rows + least - 1) / least, 1, most_ranges);
  return {examples, rows,
          columns,  (columns + wide - 1) / wide,
          ranges,   (rows + ranges - 1) / ranges,
          wide};
}

template <class Kernel>
struct EachStrip {
  StripGrid grid;
  Kernel kernel;
  DL_DEVICE void operator()(const Block& b) const {
    const Strip s = grid.strip(b);
    if (s.column < grid.columns) kernel(s);
  }
};

// Calls kernel(strip) for strips that are the whole array.
template <class Kernel>
void each_strip(Stream& stream, std::int64_t examples, std::int64_t rows,
                std::int64_t columns, const Kernel& kernel) {
  const StripGrid grid = strip_grid(stream, examples, rows, columns, 8);
  blocks(stream, grid.blocks(), kThreads, 0, EachStrip<Kernel>{grid, kernel});
}

template <class T, class Item>
struct SumStrips {
  StripGrid grid;
  Item item;
  T* sums;  // [examples, ranges, columns]
  DL_DEVICE void operator()(const Block& b) const {
    const Strip s = grid.strip(b);
    const unsigned wide = grid.wide, row = b.thread / wide;
    T* const all = reinterpret_cast<T*>(b.shared);
    all[b.thread] = s.column < grid.columns ? item(s) : T{};
    b.sync();
    for (unsigned half = b.threads / wide / 2; half > 0; half /= 2) {
      if (row < half)
        all[b.thread] = all[b.thread] + all[b.thread + half * wide];
      b.sync();
    }
    if (row == 0 && s.column < grid.columns)
      sums[(s.example * grid.ranges + s.range) * grid.columns + s.column] =
          all[b.thread];
  }
};

// The sums of item(strip) of each range of each column.
template <class T, class Item>
void sum_strips(Stream& stream, const StripGrid& grid, const Item& item,
                T* sums) {
  blocks(stream, grid.blocks(), kThreads, sizeof(T),
         SumStrips<T, Item>{grid, item, sums});
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_STRIPS_H_
