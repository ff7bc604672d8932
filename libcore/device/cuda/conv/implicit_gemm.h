// Products of matrices in full float32, one of which may never be written down:
// C [m, n] = A [m, k] B [k, n], whose elements a source names by address.
//
// A block of 256 threads computes a tile of C.  It takes `depth` of k at a time
// to shared memory, in two halves: while one is multiplied, what the other will
// hold is on its way in registers.  Where a tile is small, `slices` of the
// threads take turns along the depth, and add up their sums at the end.
//
// Shared memory is [depth, width], so that threads load four neighbors of a row
// or column at once.  Lanes are laid out in squares of 2x2, which makes pairs
// of neighboring lanes load the same 16 bytes: half a warp then takes one turn.
// Elements along k are written across: columns are permuted, by swizzle(), such
// that a warp's 32 go to 32 banks.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_IMPLICIT_GEMM_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_IMPLICIT_GEMM_H_

#include <cstdint>

#include "libcore/device/cuda/conv/gemm_loader.h"

namespace dl::device::cuda {

// A thread has micro_rows x micro_columns of C, in pieces of 4x4.
template <int rows_, int columns_, int micro_rows_, int micro_columns_,
          int slices_, int depth_, int together_>
struct GemmTile {
  static constexpr int rows = rows_, columns = columns_;
  static constexpr int micro_rows = micro_rows_;
  static constexpr int micro_columns = micro_columns_;
  static constexpr int slices = slices_, depth = depth_;
  static constexpr int together = together_;  // blocks of a multiprocessor

  static constexpr int across = columns / micro_columns;  // threads
  static constexpr int slice = rows / micro_rows * across;
  static constexpr int half = depth * (rows + columns);  // floats
  static_assert(slice * slices == kThreads && across % 8 == 0);
  static_assert(depth % (4 * slices) == 0);

  static constexpr int sums = slices / 2 * rows * columns;
  static constexpr std::size_t shared =
      sizeof(float) * (2 * half > sums ? 2 * half : sums);  // bytes
};

// Where C goes: rows of pixels, or plain ones.
struct GemmResult {
  float* to;
  const float* bias;  // [groups, columns], or null
  std::int64_t row;   // elements from one to the next
  std::int64_t group, range;
  bool vectors;  // rows are of fours that lie as such
  // Rows are positions of pixels:
  bool scattered;
  Places places;
  int example, d, h, w, first;  // elements from one to the next

  DL_DEVICE int offset(int m) const {
    if (!scattered) return m * row;
    const Place p = places.of(m);
    return first + p.example * example + p.d * d + p.h * h + p.w * w;
  }
};

template <class Tile, class A, class B, int kVectorA, int kVectorB>
struct ImplicitGemm {
  // Loads of one float need registers for more lines.
  static constexpr int kTogether =
      kVectorA + kVectorB == 2 && Tile::together > 2 ? 2 : Tile::together;
  // Fours of k.  Otherwise nvcc puts registers into memory.
  static constexpr int kUnrolled = Tile::micro_columns == 8 ? 2 : 1;
  A a;
  B b;
  GemmResult c;
  int rows, columns;  // of C
  int row_tiles, column_tiles, groups;

  using LoadA = GemmLoader<A, Tile::rows, Tile::depth, kVectorA>;
  using LoadB = GemmLoader<B, Tile::columns, Tile::depth, kVectorB>;
  static constexpr int row_fours = Tile::micro_rows / 4;
  static constexpr int column_fours = Tile::micro_columns / 4;
  using Sums = float[Tile::micro_rows][Tile::micro_columns];

  // The first of the rows and columns that are this thread's, in the tile.
  struct Corner {
    int row, column;
  };
  DL_DEVICE static Corner corner_of(int in_slice) {
    const int lane = in_slice % 32, warp = in_slice / 32;
    const int x = (lane & 1) | (lane >> 1 & 6);
    const int y = (lane >> 1 & 1) | (lane >> 3 & 2);
    return {(y + warp / (Tile::across / 8) * 4) * 4,
            (x + warp % (Tile::across / 8) * 8) * 4};
  }

  DL_DEVICE GemmTask task_of(int index) const {
    GemmTask task{};
    int at = index / column_tiles;
    task.column = (index - at * column_tiles) * Tile::columns;
    index = at;
    at = index / row_tiles;
    task.row = (index - at * row_tiles) * Tile::rows;
    task.range = at / groups;
    task.group = at - task.range * groups;
    const int end = task.row + Tile::rows;
    a.limit(task, (end < rows ? end : rows) - 1);
    b.limit(task, 0);
    return task;
  }

  DL_DEVICE static void multiply(Sums& sums, const float* shared, int slice,
                                 Corner corner) {
    constexpr int deep = Tile::depth / Tile::slices;
    const int begin = Tile::slices == 1 ? 0 : slice * deep;
    DL_UNROLL_BY(kUnrolled)
    for (int k = begin; k < begin + deep; k += 4) {
      const float* const left = shared + k * Tile::rows;
      const float* const right =
          shared + Tile::depth * Tile::rows + k * Tile::columns;
      const int row = corner.row ^ LoadA::swizzle(k);
      const int column = corner.column ^ LoadB::swizzle(k);
      DL_UNROLL
      for (int j = 0; j < 4; ++j) {
        float x[Tile::micro_rows], y[Tile::micro_columns];
        LoadA::template read<row_fours>(x, left, row, j);
        LoadB::template read<column_fours>(y, right, column, j);
        DL_UNROLL
        for (int r = 0; r < Tile::micro_rows; ++r) DL_UNROLL
        for (int s = 0; s < Tile::micro_columns; ++s) sums[r][s] += x[r] * y[s];
      }
    }
  }

  // Into those of the first slice: pairs, pairs of pairs and so on.
  DL_DEVICE static void add_slices(const Block& block, Sums& sums, int slice,
                                   int in_slice) {
    float* const all = reinterpret_cast<float*>(block.shared);
    constexpr int each = Tile::micro_rows * Tile::micro_columns;
    for (int half = Tile::slices / 2; half > 0; half /= 2) {
      float* const mine = all + (slice % half * each) * Tile::slice + in_slice;
      if (slice >= half && slice < 2 * half) DL_UNROLL
      for (int i = 0; i < each; ++i)
        mine[i * Tile::slice] =
            sums[i / Tile::micro_columns][i % Tile::micro_columns];
      block.sync();
      if (slice < half) DL_UNROLL
      for (int i = 0; i < each; ++i)
        sums[i / Tile::micro_columns][i % Tile::micro_columns] +=
            mine[i * Tile::slice];
      block.sync();
    }
  }

  DL_DEVICE void write(const GemmTask& task, const Sums& sums,
                       Corner corner) const {
    float* const group = c.to + task.range * c.range + task.group * c.group;
    DL_UNROLL
    for (int i = 0; i < column_fours; ++i) {
      const int column = task.column + corner.column + i * (Tile::columns / 2);
      const int left = columns - column;
      if (left <= 0) continue;
      float bias[4] = {0, 0, 0, 0};
      if (c.bias != nullptr) DL_UNROLL
      for (int v = 0; v < 4; ++v)
        if (v < left) bias[v] = c.bias[task.group * columns + column + v];
      DL_UNROLL
      for (int r = 0; r < Tile::micro_rows; ++r) {
        const int row =
            task.row + corner.row + r % 4 + r / 4 * (Tile::rows / 2);
        if (row >= rows) continue;
        float* const to = group + c.offset(row) + column;
        const float* const from = sums[r] + 4 * i;
        if (c.vectors) {
          *reinterpret_cast<float4*>(to) = {
              from[0] + bias[0], from[1] + bias[1], from[2] + bias[2],
              from[3] + bias[3]};
        } else {
          DL_UNROLL
          for (int v = 0; v < 4; ++v)
            if (v < left) to[v] = from[v] + bias[v];
        }
      }
    }
  }

  int blocks() const { return row_tiles * column_tiles * groups; }

  DL_DEVICE void operator()(const Block& block) const {
    float* const shared = reinterpret_cast<float*>(block.shared);
    const int thread = static_cast<int>(block.thread);
    const int slice = thread / Tile::slice, in_slice = thread % Tile::slice;
    const Corner corner = corner_of(in_slice);
    const GemmTask task = task_of(static_cast<int>(block.index));
    LoadA load_a(a, task, thread, task.row, rows);
    LoadB load_b(b, task, thread, task.column, columns);
    Sums sums = {};
    float* now = shared;
    float* next = shared + Tile::half;
    load_a.load(a, task, task.begin);
    load_b.load(b, task, task.begin);
    load_a.store(now);
    load_b.store(now + Tile::depth * Tile::rows);
    block.sync();
    for (int k = task.begin; k < task.end;) {
      k += Tile::depth;
      const bool more = k < task.end;
      if (more) {
        load_a.load(a, task, k);
        load_b.load(b, task, k);
      }
      multiply(sums, now, slice, corner);
      if (more) {
        load_a.store(next);
        load_b.store(next + Tile::depth * Tile::rows);
      }
      block.sync();
      float* const other = now;
      now = next;
      next = other;
    }
    if constexpr (Tile::slices > 1) {
      add_slices(block, sums, slice, in_slice);
      if (slice > 0) return;
    }
    write(task, sums, corner);
  }
};

// Several products, whose blocks fill the GPU together.
template <class Gemm, int most>
struct Gemms {
  static constexpr int kTogether = Gemm::kTogether;
  int count;
  int begin[most];  // each one's first block
  Gemm each[most];

  DL_DEVICE void operator()(const Block& block) const {
    int i = 0;
    while (i + 1 < count && block.index >= begin[i + 1]) ++i;
    Block of_one = block;
    of_one.index -= begin[i];
    each[i](of_one);
  }
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_IMPLICIT_GEMM_H_
