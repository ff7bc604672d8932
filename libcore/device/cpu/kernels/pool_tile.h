// Convolution whose sums compete four by four: lanes are pooled outputs.

#ifndef DL_LIBCORE_DEVICE_CPU_KERNELS_POOL_TILE_H_
#define DL_LIBCORE_DEVICE_CPU_KERNELS_POOL_TILE_H_

#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/device/cpu/kernels/vectors.h"

namespace dl::device {
namespace {

template <int filters>
void pool_tile_of(const PoolTile& tile) {
  Vec sum[filters][4];
#pragma GCC unroll 16
  for (int f = 0; f < filters; ++f)
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) sum[f][q] = Vec{} + tile.bias[f];
  const float* w = tile.w;
  for (std::int64_t r = 0; r < tile.kernel_rows; ++r) {
    const float* x = tile.window + r * tile.window_row;
    const float* below = x + tile.down;
    const std::int64_t right = tile.right;
    for (std::int64_t s = 0; s < tile.kernel_span; ++s) {
      const Vec at[4] = {load(x), load(x + right), load(below),
                         load(below + right)};
#pragma GCC unroll 16
      for (int f = 0; f < filters; ++f)
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) sum[f][q] += w[f] * at[q];
      w += filters;
      x += kLanes;
      below += kLanes;
    }
  }
#pragma GCC unroll 16
  for (int f = 0; f < filters; ++f) {
    Vec best = sum[f][0];
    Mask winner = {};
#pragma GCC unroll 4
    for (int q = 1; q < 4; ++q) {
      const Mask wins = (sum[f][q] > best) | (sum[f][q] != sum[f][q]);
      best = wins ? sum[f][q] : best;
      winner = wins ? Mask{} + q : winner;
    }
    store(tile.best + f * kLanes, best);
    *reinterpret_cast<LooseBytes*>(tile.winner + f * kLanes) =
        __builtin_convertvector(winner, Bytes);
  }
}

template <int filters>
void pool_tile_filters(int wanted, const PoolTile& tile) {
  if constexpr (filters > 1) {
    if (wanted < filters) return pool_tile_filters<filters - 1>(wanted, tile);
  }
  pool_tile_of<filters>(tile);
}

void pool_tile(int filters, const PoolTile& tile) {
  pool_tile_filters<kPoolFilters>(filters, tile);
}

// Half a vector of each of two rows.
using Half [[gnu::vector_size(kLanes * 2)]] = float;
using LooseHalf
    [[gnu::vector_size(kLanes * 2), gnu::aligned(4), gnu::may_alias]] = float;
template <int... i>
DL_ALWAYS Vec load_halves(const float* a, const float* b,
                          std::integer_sequence<int, i...>) {
  const Half first = *reinterpret_cast<const LooseHalf*>(a);
  const Half second = *reinterpret_cast<const LooseHalf*>(b);
  return __builtin_shufflevector(first, second, i...);
}

// columns: up to half a vector.
DL_ALWAYS void pack_narrow(float* to, const float* const* from,
                           std::int64_t offset, std::int64_t columns) {
  constexpr int half = kLanes / 2;
  Vec block[half];
#pragma GCC unroll 16
  for (int i = 0; i < half; ++i)
    block[i] = load_halves(from[i] + offset, from[i + half] + offset,
                           std::make_integer_sequence<int, kLanes>());
  turn(block);
#pragma GCC unroll 16
  for (int i = 0; i < half; ++i)
    if (i < columns) store(to + i * kLanes, block[i]);
}

DL_ALWAYS void pack_wide(float* to, const float* const* from,
                         std::int64_t offset, std::int64_t columns) {
  Vec block[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) block[i] = load(from[i] + offset);
  turn(block);
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i)
    if (i < columns) store(to + i * kLanes, block[i]);
}

void pack_window(float* to, const float* const* from, std::int64_t from_row,
                 std::int64_t rows, std::int64_t span) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t s = 0; s < span;) {
      const std::int64_t left = span - s;
      if (left > kLanes / 2) {
        pack_wide(to + s * kLanes, from, r * from_row + s, left);
        s += kLanes;
      } else {
        pack_narrow(to + s * kLanes, from, r * from_row + s, left);
        s += kLanes / 2;
      }
    }
    to += span * kLanes;
  }
}

}  // namespace
}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_KERNELS_POOL_TILE_H_
