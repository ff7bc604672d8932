// Convolution whose sums compete four by four: lanes are pooled outputs.

#ifndef DL_LIBCORE_DEVICE_CPU_KERNELS_POOL_TILE_H_
#define DL_LIBCORE_DEVICE_CPU_KERNELS_POOL_TILE_H_

#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/device/cpu/kernels/vectors.h"

namespace dl::device {
namespace {

// The largest of four and which it is.  Numbers only: the first of equals.
DL_ALWAYS void best_of_numbers(const Vec (&s)[4], Vec& best, Mask& winner) {
  const Mask right = s[1] > s[0], below_right = s[3] > s[2];
  const Vec above = right ? s[1] : s[0], below = below_right ? s[3] : s[2];
  const Mask down = below > above;
  best = down ? below : above;
  winner = down ? (below_right ? Mask{} + 3 : Mask{} + 2)
                : (right ? Mask{} + 1 : Mask{});
}

// The same where there may be NaN, which wins.
DL_ALWAYS void best_of_any(const Vec (&s)[4], Vec& best, Mask& winner) {
  best = s[0];
  winner = Mask{};
#pragma GCC unroll 4
  for (int q = 1; q < 4; ++q) {
    const Mask wins = (s[q] > best) | (s[q] != s[q]);
    best = wins ? s[q] : best;
    winner = wins ? Mask{} + q : winner;
  }
}

DL_ALWAYS bool may_have_nan(Vec sum) {
  const Mask is = sum != sum;
#ifdef __AVX512F__
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(is)) != 0;
#else
  int any = 0;
  for (int i = 0; i < kLanes; ++i) any |= is[i];
  return any != 0;
#endif
}

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
      w += tile.w_row;
      x += kLanes;
      below += kLanes;
    }
  }
  // NaN in any of them is NaN in their sum.
  Vec total = {};
#pragma GCC unroll 16
  for (int f = 0; f < filters; ++f)
    total += (sum[f][0] + sum[f][1]) + (sum[f][2] + sum[f][3]);
  const bool numbers = !may_have_nan(total);
#pragma GCC unroll 16
  for (int f = 0; f < filters; ++f) {
    Vec best;
    Mask winner;
    if (numbers)
      best_of_numbers(sum[f], best, winner);
    else
      best_of_any(sum[f], best, winner);
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
  if (filters <= kPoolFilters)
    return pool_tile_filters<kPoolFilters>(filters, tile);
  for (int f = 0; f < filters; f += kPoolFilters) {
    PoolTile part = tile;
    part.w += f;
    part.bias += f;
    part.best += f * kLanes;
    part.winner += f * kLanes;
    pool_tile_filters<kPoolFilters>(filters - f, part);
  }
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
