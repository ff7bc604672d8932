// Kernels over rows of numbers of one kind whose threads keep to as many
// neighboring columns as 16 bytes hold.  The values of each column are computed
// once in a block.
//
// Map: a kernel's numbers and what it does with them,
//   struct Column;
//   Column column(std::int64_t c);
//   .. value(const Column& of, const float (&in)[K]);
//
// where in[] are the numbers of a place in K arrays.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_PACKED_COLUMNS_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_PACKED_COLUMNS_H_

#include <algorithm>
#include <cstdint>

#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/kernel/reduce.h"
#include "libcore/device/cuda/kernel/strips.h"

namespace dl::device::cuda {

DL_BOTH inline float as_float(float x) { return x; }
DL_BOTH inline float as_float(Bfloat16 x) { return float_of(x); }
DL_BOTH inline void put(float& to, float x) { to = x; }
DL_BOTH inline void put(Bfloat16& to, float x) {
  to.bits = static_cast<std::uint16_t>(upper_half(x));
}

template <int K>
struct Inputs {
  Reals of[K];
};

// Number of T in 16 bytes.
template <class T>
constexpr int kPacked = 16 / sizeof(T);

// A kernel over arrays [rows, columns], packs of T being the grid's columns.
template <class T, int K, class Map>
struct PackedColumns {
  static constexpr int kWide = kPacked<T>;
  using Packs = Pack<T, kWide>[K];
  using Column = typename Map::Column;
  StripGrid grid;
  Inputs<K> from;
  Map map;

  // Bytes that own() needs.
  std::size_t shared() const { return grid.wide * kWide * sizeof(Column); }
  // All threads of a block call it.
  DL_DEVICE void own(const Block& b, const Strip& s,
                     Column (&columns)[kWide]) const {
    const unsigned across = b.thread % grid.wide;
    const std::int64_t first = (s.column - across) * kWide;
    Column* const all = reinterpret_cast<Column*>(b.shared);
    for (unsigned j = b.thread; j < grid.wide * kWide; j += b.threads)
      if (first + j < grid.columns * kWide) all[j] = map.column(first + j);
    b.sync();
    if (s.column >= grid.columns) return;
    DL_UNROLL
    for (int k = 0; k < kWide; ++k) columns[k] = all[across * kWide + k];
  }
  // use(at, packs) for all of the strip, where several are read before the
  // first is used.
  template <class Use>
  DL_DEVICE void each(const Strip& s, const Use& use) const {
    constexpr int kAtOnce = K > 1 ? 2 : 4;
    std::int64_t at = s.begin;
    for (; at + (kAtOnce - 1) * s.step < s.end; at += kAtOnce * s.step)
      some<kAtOnce>(at, s.step, use);
    for (; at < s.end; at += s.step) some<1>(at, s.step, use);
  }
  // Value of the k-th column.
  DL_DEVICE auto value(const Column& column, const Packs& in, int k) const {
    float numbers[K];
    DL_UNROLL
    for (int j = 0; j < K; ++j) numbers[j] = as_float(in[j].at[k]);
    return map.value(column, numbers);
  }

 private:
  template <int kRows, class Use>
  DL_DEVICE void some(std::int64_t at, std::int64_t step,
                      const Use& use) const {
    Packs in[kRows];
    DL_UNROLL
    for (int i = 0; i < kRows; ++i) {
      DL_UNROLL
      for (int j = 0; j < K; ++j)
        in[i][j] =
            from.of[j].template packed<T, kWide>((at + i * step) * kWide);
    }
    DL_UNROLL
    for (int i = 0; i < kRows; ++i) use(at + i * step, in[i]);
  }
};

template <class T, int K, class Map>
struct MapPacked {
  using Of = PackedColumns<T, K, Map>;
  static constexpr int kTogether = 2;
  Of of;
  Reals to;
  DL_DEVICE void operator()(const Block& b) const {
    const Strip s = of.grid.strip(b);
    typename Of::Column columns[Of::kWide];
    of.own(b, s, columns);
    if (s.column >= of.grid.columns) return;
    of.each(s, [&](std::int64_t at, const typename Of::Packs& in) {
      Pack<T, Of::kWide> out;
      DL_UNROLL
      for (int k = 0; k < Of::kWide; ++k)
        put(out.at[k], of.value(columns[k], in, k));
      to.set_packed(at * Of::kWide, out);
    });
  }
};

// kPut: what is summed is written to `out`, too.
template <class S, class T, int K, class Map, bool kPut = false>
struct SumPacked {
  using Of = PackedColumns<T, K, Map>;
  static constexpr int kTogether = 2;
  Of of;
  S* partial;  // [ranges, columns]
  Reals out;
  DL_DEVICE void operator()(const Block& b) const {
    const Strip s = of.grid.strip(b);
    typename Of::Column columns[Of::kWide];
    of.own(b, s, columns);
    S sums[Of::kWide] = {};
    if (s.column < of.grid.columns)
      of.each(s, [&](std::int64_t at, const typename Of::Packs& in) {
        Pack<T, Of::kWide> values;
        DL_UNROLL
        for (int k = 0; k < Of::kWide; ++k) {
          const auto value = of.value(columns[k], in, k);
          sums[k] = sums[k] + S{value};
          if constexpr (kPut) put(values.at[k], value);
        }
        if constexpr (kPut) out.set_packed(at * Of::kWide, values);
      });
    b.sync();  // the columns' own have been read
    S* const all = reinterpret_cast<S*>(b.shared) + b.thread;  // of its first
    DL_UNROLL
    for (int k = 0; k < Of::kWide; ++k) all[k * b.threads] = sums[k];
    b.sync();
    const unsigned wide = of.grid.wide, row = b.thread / wide;
    for (unsigned half = b.threads / wide / 2; half > 0; half /= 2) {
      if (row < half) {
        DL_UNROLL
        for (int k = 0; k < Of::kWide; ++k) {
          S& mine = all[k * b.threads];
          mine = mine + all[k * b.threads + half * wide];
        }
      }
      b.sync();
    }
    if (row > 0 || s.column >= of.grid.columns) return;
    S* const to = partial + (s.range * of.grid.columns + s.column) * Of::kWide;
    DL_UNROLL
    for (int k = 0; k < Of::kWide; ++k) to[k] = all[k * b.threads];
  }
};

// Whether rows of so many columns are whole packs of T in all of them.
template <class T, int K>
bool in_packs_of(std::int64_t columns, const Inputs<K>& arrays) {
  const bool halves = sizeof(T) == 2;
  return columns % kPacked<T> == 0 &&
         std::ranges::all_of(arrays.of, [&](const Reals& r) {
           return r.halves() == halves && r.in_packs(kPacked<T>);
         });
}

constexpr std::int64_t kPackedRows = 8;  // a thread's, at least

template <class T, int K, class Map>
bool map_packed(Stream& stream, std::int64_t rows, std::int64_t columns,
                const Reals& to, const Inputs<K>& from, const Map& map) {
  if (!in_packs_of<T>(columns, from) ||
      !in_packs_of<T>(columns, Inputs<1>{{to}}))
    return false;
  const PackedColumns<T, K, Map> of{
      strip_grid(stream, 1, rows, columns / kPacked<T>, kPackedRows), from,
      map};
  whole_blocks(stream, of.grid.blocks(), of.shared(),
               MapPacked<T, K, Map>{of, to});
  return true;
}

// to[i, c] = map.value(map.column(c), {from.of[0][i, c], ..}); `to` may be one
// of them.
template <int K, class Map>
void map_columns(Stream& stream, std::int64_t rows, std::int64_t columns,
                 const Reals& to, const Inputs<K>& from, const Map& map) {
  if (map_packed<Bfloat16>(stream, rows, columns, to, from, map) ||
      map_packed<float>(stream, rows, columns, to, from, map))
    return;
  each_strip(stream, 1, rows, columns, [=] DL_DEVICE(const Strip& s) {
    const auto column = map.column(s.column);
    write_strip(s, to, [&](std::int64_t at) {
      float in[K];
      for (int j = 0; j < K; ++j) in[j] = from.of[j][at];
      return map.value(column, in);
    });
  });
}

template <class S, class T, bool kPut = false, int K, class Map, class Finish>
bool sum_packed(Stream& stream, std::int64_t rows, std::int64_t columns,
                const Inputs<K>& from, const Map& map, const Finish& finish,
                const Reals& to = {}) {
  if (!in_packs_of<T>(columns, from) ||
      (kPut && !in_packs_of<T>(columns, Inputs<1>{{to}})))
    return false;
  const std::int64_t packs = columns / kPacked<T>;
  const std::int64_t most =
      std::max<std::int64_t>(kMostBlocks / ((packs + 31) / 32), 1);
  const StripGrid grid = strip_grid(stream, 1, rows, packs, kPackedRows, most);
  if (grid.ranges == 1) return false;  // one pass does
  const PackedColumns<T, K, Map> of{grid, from, map};
  S* const partial = stream.scratch<S>(grid.ranges * columns);
  whole_blocks(stream, grid.blocks(),
               std::max(of.shared(), kThreads * kPacked<T> * sizeof(S)),
               SumPacked<S, T, K, Map, kPut>{of, partial, to});
  finish_columns(stream, grid.ranges, columns, partial, finish);
  return true;
}

// finish(c, S{} + S{map.value(map.column(c), {from.of[0][i, c], ..})} + ..)
template <class S, int K, class Map, class Finish>
void sum_columns_of(Stream& stream, std::int64_t rows, std::int64_t columns,
                    const Inputs<K>& from, const Map& map,
                    const Finish& finish) {
  if (sum_packed<S, Bfloat16>(stream, rows, columns, from, map, finish) ||
      sum_packed<S, float>(stream, rows, columns, from, map, finish))
    return;
  sum_columns<S>(
      stream, rows, columns,
      [=] DL_DEVICE(std::int64_t i, std::int64_t c) {
        float in[K];
        for (int j = 0; j < K; ++j) in[j] = from.of[j][i * columns + c];
        return S{map.value(map.column(c), in)};
      },
      finish);
}

// The same of what it writes as map_columns() does; false: nothing is done, the
// arrays are small or not of packs.
template <class S, int K, class Map, class Finish>
bool put_and_sum_columns(Stream& stream, std::int64_t rows,
                         std::int64_t columns, const Reals& to,
                         const Inputs<K>& from, const Map& map,
                         const Finish& finish) {
  return sum_packed<S, Bfloat16, true>(stream, rows, columns, from, map, finish,
                                       to) ||
         sum_packed<S, float, true>(stream, rows, columns, from, map, finish,
                                    to);
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_PACKED_COLUMNS_H_
