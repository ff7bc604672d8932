// Sums and the like over rows and columns, in an order that the sizes alone
// determine: the same numbers give the same bits.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_REDUCE_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_REDUCE_H_

#include <cstdint>

#include "libcore/device/cuda/kernel/grid.h"

namespace dl::device::cuda {

struct Sum {
  template <class T>
  DL_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

// Two sums at once.
struct Two {
  double a = 0, b = 0;
  friend DL_BOTH Two operator+(Two x, Two y) { return {x.a + y.a, x.b + y.b}; }
};

// NaN stays.
struct Largest {
  template <class T>
  DL_DEVICE T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

// Combination of the values of all threads of the block; every thread gets it.
// The block's shared memory has room for a T of each, and is free afterwards.
template <class T, class Combine>
DL_DEVICE T reduce(const Block& b, T mine, const Combine& combine) {
  T* const all = reinterpret_cast<T*>(b.shared);
  all[b.thread] = mine;
  b.sync();
  for (unsigned half = b.threads / 2; half > 0; half /= 2) {
    if (b.thread < half)
      all[b.thread] = combine(all[b.thread], all[b.thread + half]);
    b.sync();
  }
  const T result = all[0];
  b.sync();
  return result;
}

// Sum of the values of the threads before this one. Shared memory as reduce().
template <class T>
DL_DEVICE T sum_before(const Block& b, T mine) {
  T* const all = reinterpret_cast<T*>(b.shared);
  all[b.thread] = mine;
  b.sync();
  for (unsigned step = 1; step < b.threads; step *= 2) {
    const T before = b.thread < step ? T{} : all[b.thread - step];
    b.sync();
    all[b.thread] = all[b.thread] + before;
    b.sync();
  }
  const T sum = b.thread == 0 ? T{} : all[b.thread - 1];
  b.sync();
  return sum;
}

// item(j) of j in 0..length-1, put together by the whole block.
template <class T, class Item, class Combine>
DL_DEVICE T reduce_over(const Block& b, std::int64_t length, T zero,
                        const Item& item, const Combine& combine) {
  T mine = zero;
  for (std::int64_t j = b.thread; j < length; j += b.threads)
    mine = combine(mine, item(j));
  return reduce(b, mine, combine);
}

// So many threads look at a row of this length.
inline unsigned threads_for(std::int64_t length) {
  unsigned threads = 32;
  while (threads < kThreads && threads * 4 < length) threads *= 2;
  return threads;
}

// Threads of a part of a block that looks at a row of this length.
inline unsigned part_for(const Stream& stream, std::int64_t length) {
  const unsigned most = std::min(kThreads, stream.most_threads());
  unsigned threads = 1;
  while (threads < most && threads * 4 < length) threads *= 2;
  return threads;
}

// The part of this thread, as if it were a block, the index-th of its kind: for
// reduce() and the like, which all parts must call alike.  bytes: of shared
// memory for each thread.
DL_DEVICE inline Block part_of(const Block& b, unsigned threads,
                               std::size_t bytes) {
  const unsigned in_block = b.threads / threads;
  Block part = b;
  part.index = b.index * in_block + b.thread / threads;
  part.count = b.count * in_block;
  part.thread = b.thread % threads;
  part.threads = threads;
  part.shared = b.shared + (b.thread - part.thread) * bytes;
  return part;
}

template <class T, class Item, class Combine, class Finish>
struct ReduceRows {
  std::int64_t rows, length;
  unsigned threads;
  T zero;
  Item item;
  Combine combine;
  Finish finish;
  DL_DEVICE void operator()(const Block& b) const {
    const Block part = part_of(b, threads, sizeof(T));
    T mine = zero;
    if (part.index < rows)
      for (std::int64_t j = part.thread; j < length; j += part.threads)
        mine = combine(mine, item(part.index, j));
    mine = reduce(part, mine, combine);
    if (part.thread == 0 && part.index < rows) finish(part.index, mine);
  }
};

// finish(i, item(i, 0), item(i, 1), .. put together) for each row i.
template <class T, class Item, class Combine, class Finish>
void reduce_rows(Stream& stream, std::int64_t rows, std::int64_t length, T zero,
                 const Item& item, const Combine& combine,
                 const Finish& finish) {
  const unsigned threads = part_for(stream, length);
  const std::int64_t in_block =
      std::min(kThreads, stream.most_threads()) / threads;
  blocks(stream, (rows + in_block - 1) / in_block, kThreads, sizeof(T),
         ReduceRows<T, Item, Combine, Finish>{rows, length, threads, zero, item,
                                              combine, finish});
}

// A block looks at `wide` columns of a range of rows.
template <class T, class Item, class Finish>
struct SumColumns {
  std::int64_t rows, columns, tiles, rows_each;
  unsigned wide;
  Item item;
  Finish finish;  // finish(range, c, sum)
  DL_DEVICE void operator()(const Block& b) const {
    const unsigned deep = b.threads / wide;
    const std::int64_t c = b.index % tiles * wide + b.thread % wide;
    const std::int64_t range = b.index / tiles;
    const std::int64_t begin = range * rows_each;
    const std::int64_t end =
        begin + rows_each < rows ? begin + rows_each : rows;
    T mine{};
    if (c < columns)
      for (std::int64_t i = begin + b.thread / wide; i < end; i += deep)
        mine = mine + item(i, c);
    T* const all = reinterpret_cast<T*>(b.shared);
    all[b.thread] = mine;
    b.sync();
    for (unsigned half = deep / 2; half > 0; half /= 2) {
      if (b.thread / wide < half)
        all[b.thread] = all[b.thread] + all[b.thread + half * wide];
      b.sync();
    }
    if (b.thread < wide && c < columns) finish(range, c, all[b.thread]);
  }
};

template <class T>
struct KeepPartial {
  std::int64_t columns;
  T* partial;  // [ranges, columns]
  DL_DEVICE void operator()(std::int64_t range, std::int64_t c, T sum) const {
    partial[range * columns + c] = sum;
  }
};
template <class T>
struct PartialSum {
  std::int64_t columns;
  const T* partial;
  DL_DEVICE T operator()(std::int64_t range, std::int64_t c) const {
    return partial[range * columns + c];
  }
};
template <class T, class Finish>
struct FinishColumn {
  Finish finish;
  DL_DEVICE void operator()(std::int64_t, std::int64_t c, T sum) const {
    finish(c, sum);
  }
};

constexpr std::int64_t kMostBlocks = 1024;  // about what runs at a time

// finish(c, partial[0, c] + partial[1, c] + ..): few columns a block, so that
// its threads have few rows.
template <class T, class Finish>
void finish_columns(Stream& stream, std::int64_t ranges, std::int64_t columns,
                    const T* partial, const Finish& finish) {
  constexpr std::int64_t kRowsEach = 8;
  const unsigned threads = std::min(kThreads, stream.most_threads());
  unsigned wide = std::min(32U, threads);
  while (wide > 1 && (wide / 2 >= columns ||
                      (wide > 4 && threads / wide * kRowsEach < ranges)))
    wide /= 2;
  const std::int64_t tiles = (columns + wide - 1) / wide;
  blocks(
      stream, tiles, threads, sizeof(T),
      SumColumns<T, PartialSum<T>, FinishColumn<T, Finish>>{
          ranges, columns, tiles, ranges, wide, {columns, partial}, {finish}});
}

// finish(c, item(0, c) + item(1, c) + ..) for each column c; T{} is zero.  For
// items that lie row by row; a vector is a single column.
template <class T, class Item, class Finish>
void sum_columns(Stream& stream, std::int64_t rows, std::int64_t columns,
                 const Item& item, const Finish& finish) {
  constexpr std::int64_t kRowsEach = 16;  // at least, a thread's
  const unsigned threads = std::min(kThreads, stream.most_threads());
  unsigned wide = std::min(32U, threads);
  while (wide > 1 && wide / 2 >= columns) wide /= 2;
  const std::int64_t tiles = (columns + wide - 1) / wide;
  const std::int64_t least = kRowsEach * (threads / wide);
  const std::int64_t ranges = std::clamp<std::int64_t>(
      std::min((rows + least - 1) / least,
               kMostBlocks / std::max<std::int64_t>(tiles, 1)),
      1, kMostBlocks);
  const std::int64_t rows_each = (rows + ranges - 1) / ranges;
  if (ranges == 1) {
    blocks(stream, tiles, threads, sizeof(T),
           SumColumns<T, Item, FinishColumn<T, Finish>>{
               rows, columns, tiles, rows, wide, item, {finish}});
    return;
  }
  T* const partial = stream.scratch<T>(ranges * columns);
  blocks(stream, tiles * ranges, threads, sizeof(T),
         SumColumns<T, Item, KeepPartial<T>>{
             rows, columns, tiles, rows_each, wide, item, {columns, partial}});
  finish_columns(stream, ranges, columns, partial, finish);
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_REDUCE_H_
