// Which tile a product gets (exact_conv.h says why), and its launch.

#ifndef DL_LIBCORE_DEVICE_CUDA_GEMM_TILES_H_
#define DL_LIBCORE_DEVICE_CUDA_GEMM_TILES_H_

#include <algorithm>
#include <cstdint>

#include "libcore/device/cuda/implicit_gemm.h"

namespace dl::device::cuda {

using LargeTile = GemmTile<128, 128, 8, 8, 1, 8, 2>;
using MediumTile = GemmTile<64, 64, 8, 4, 2, 16, 2>;
using TallTile = GemmTile<128, 32, 8, 4, 2, 16, 2>;
using SmallTile = GemmTile<32, 32, 4, 4, 4, 32, 3>;

// Products side by side.
struct GemmSizes {
  int rows, columns, groups;
  // k is cut into as many ranges as fill the GPU, and there is no tall tile.
  bool in_ranges;
  bool fours_a, fours_b;  // of floats can be loaded at once

  // Of so many rows and columns.
  std::int64_t tiles(int high, int wide) const {
    return std::int64_t{1} * up(rows, high) * up(columns, wide) * groups;
  }
  static int up(int n, int by) { return n / by + (n % by != 0); }
};

struct GemmPlan {
  enum class Kind { kLarge, kMedium, kTall, kSmall };
  Kind kind;
  std::int64_t tiles;
};

// Blocks of which 132 multiprocessors have two each; fewer of few threads.
inline std::int64_t busy_blocks(const Stream& stream) {
  return 264 * std::min(kThreads, stream.most_threads()) / kThreads;
}

inline GemmPlan plan_of(const GemmSizes& s, std::int64_t busy) {
  using Kind = GemmPlan::Kind;
  const auto hangs_over = [](int n) {
    return GemmSizes::up(n, 128) * 2 * 4 > GemmSizes::up(n, 64) * 5;
  };
  const auto enough = [&](std::int64_t tiles, std::int64_t least) {
    return s.in_ranges || tiles >= least;
  };
  const std::int64_t large = s.tiles(128, 128), medium = s.tiles(64, 64),
                     tall = s.tiles(128, 32), small = s.tiles(32, 32);
  if (s.fours_a && s.fours_b && !hangs_over(s.rows) && !hangs_over(s.columns) &&
      enough(large, busy / 2))
    return {Kind::kLarge, large};
  if (s.columns <= 32 && !s.in_ranges && tall >= busy)
    return {Kind::kTall, tall};
  if (s.columns > 32 && s.rows > 32 && enough(medium, busy * 3 / 4))
    return {Kind::kMedium, medium};
  return {Kind::kSmall, small};
}

template <class Tile, int kVectorA, int kVectorB, class A, class B>
void launch_tile(Stream& stream, const GemmSizes& s, std::int64_t blocks,
                 const A& a, const B& b, const GemmResult& c) {
  whole_blocks(
      stream, blocks, Tile::shared,
      ImplicitGemm<Tile, A, B, kVectorA, kVectorB>{
          a, b, c, s.rows, s.columns, GemmSizes::up(s.rows, Tile::rows),
          GemmSizes::up(s.columns, Tile::columns), s.groups});
}

// Where both lie along k, it is the same channels that are a multiple of 4.
template <class Tile, class A, class B>
void launch_tile(Stream& stream, const GemmSizes& s, std::int64_t blocks,
                 const A& a, const B& b, const GemmResult& c) {
  if (s.fours_a && s.fours_b)
    return launch_tile<Tile, 4, 4>(stream, s, blocks, a, b, c);
  if constexpr (!A::with_k || !B::with_k) {
    if (s.fours_a) return launch_tile<Tile, 4, 1>(stream, s, blocks, a, b, c);
    if (s.fours_b) return launch_tile<Tile, 1, 4>(stream, s, blocks, a, b, c);
  }
  launch_tile<Tile, 1, 1>(stream, s, blocks, a, b, c);
}

template <class A, class B>
void launch(Stream& stream, const GemmSizes& s, const GemmPlan& plan,
            std::int64_t ranges, const A& a, const B& b, const GemmResult& c) {
  using Kind = GemmPlan::Kind;
  const std::int64_t blocks = plan.tiles * ranges;
  if (plan.kind == Kind::kLarge)
    return launch_tile<LargeTile, 4, 4>(stream, s, blocks, a, b, c);
  if (plan.kind == Kind::kMedium)
    return launch_tile<MediumTile>(stream, s, blocks, a, b, c);
  if constexpr (A::with_k)
    if (plan.kind == Kind::kTall)
      return launch_tile<TallTile>(stream, s, blocks, a, b, c);
  launch_tile<SmallTile>(stream, s, blocks, a, b, c);
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_GEMM_TILES_H_
