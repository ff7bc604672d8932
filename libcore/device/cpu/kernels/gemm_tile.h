// The inner loop of a matrix product: rows x (vectors * kLanes) sums stay in
// registers while the depth goes by.  Sums are taken in the order of the depth,
// so an element does not depend on the shape of its tile.

#ifndef DL_LIBCORE_DEVICE_CPU_KERNELS_GEMM_TILE_H_
#define DL_LIBCORE_DEVICE_CPU_KERNELS_GEMM_TILE_H_

#include "libcore/device/cpu/kernels/bfloat16.h"
#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/device/cpu/kernels/vectors.h"

namespace dl::device {
namespace {

// b at a step of the depth; panels of two vectors are `panel` elements apart.
template <int vectors>
DL_ALWAYS void load_columns(Vec (&column)[vectors], const float* b,
                            std::int64_t panel) {
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v)
    column[v] = load(b + v / 2 * panel + v % 2 * kLanes);
}

template <int vectors>
DL_ALWAYS void load_columns(Vec (&column)[vectors], const std::uint32_t* b,
                            std::int64_t panel) {
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) {
    const Words pairs = load(b + v / 2 * panel);
    column[v] = v % 2 == 0 ? first_of_pairs(pairs) : second_of_pairs(pairs);
  }
}

template <int vectors>
constexpr int step_of(const float*) {
  return vectors == 1 ? kLanes : 2 * kLanes;
}
template <int vectors>
constexpr int step_of(const std::uint32_t*) {
  return kLanes;
}

template <int rows, int vectors, typename Element>
void gemm_tile_of(const GemmTile& tile, const Element* b) {
  Vec sum[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v)
      sum[r][v] = tile.add    ? load(tile.c + r * tile.c_row + v * kLanes)
                  : tile.bias ? load(tile.bias + v * kLanes)
                              : Vec{};
  constexpr int step = step_of<vectors>(static_cast<const Element*>(nullptr));
  const std::int64_t panel = tile.depth * step;
  const float* a = tile.a;
#pragma GCC unroll 4
  for (std::int64_t k = 0; k < tile.depth; ++k) {
    Vec column[vectors];
    load_columns(column, b, panel);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sum[r][v] += a[r] * column[v];
    a += rows;
    b += step;
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      Vec y = sum[r][v];
      if (tile.relu) y = y < 0 ? Vec{} : y;
      store(tile.c + r * tile.c_row + v * kLanes, y);
    }
}

template <int rows, typename Element>
void gemm_tile_rows(int wanted, int vectors, const GemmTile& tile,
                    const Element* b) {
  if constexpr (rows > 1) {
    if (wanted < rows)
      return gemm_tile_rows<rows - 1>(wanted, vectors, tile, b);
  }
  if (vectors == 1) return gemm_tile_of<rows, 1>(tile, b);
  if constexpr (most_vectors(rows) > 2) {
    if (vectors > 2) return gemm_tile_of<rows, most_vectors(rows)>(tile, b);
  }
  gemm_tile_of<rows, 2>(tile, b);
}

void gemm_tile(int rows, int vectors, const GemmTile& tile) {
  tile.pairs ? gemm_tile_rows<kMaxRows>(rows, vectors, tile, tile.pairs)
             : gemm_tile_rows<kMaxRows>(rows, vectors, tile, tile.b);
}

void transpose(float* to, std::int64_t to_column, const float* from,
               std::int64_t from_row, int rows, std::int64_t columns) {
  std::int64_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
    Vec block[kLanes];
#pragma GCC unroll 16
    for (int r = 0; r < kLanes; ++r)  // so many streams are not foreseen
      if (r < rows) __builtin_prefetch(from + r * from_row + c + 64);
#pragma GCC unroll 16
    for (int r = 0; r < kLanes; ++r)
      block[r] = r < rows ? load(from + r * from_row + c) : Vec{};
    turn(block);
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) store(to + (c + i) * to_column, block[i]);
  }
  for (; c < columns; ++c)
    for (int r = 0; r < rows; ++r)
      to[c * to_column + r] = from[r * from_row + c];
}

}  // namespace
}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_KERNELS_GEMM_TILE_H_
