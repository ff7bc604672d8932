// The choice of a product's tile (exact_conv.h says why), and its launch.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_GEMM_TILES_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_GEMM_TILES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "libcore/device/cuda/conv/conv_axes.h"
#include "libcore/device/cuda/conv/implicit_gemm.h"

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

  // Number of tiles of so many rows and columns.
  std::int64_t tiles(int high, int wide) const {
    return std::int64_t{1} * up(rows, high) * up(columns, wide) * groups;
  }
};

struct GemmPlan {
  enum class Kind { kLarge, kMedium, kTall, kSmall };
  Kind kind;
  std::int64_t tiles;
};

inline GemmPlan plan_of(const GemmSizes& s, std::int64_t busy) {
  using Kind = GemmPlan::Kind;
  const auto hangs_over = [](int n) {
    return up(n, 128) * 2 * 4 > up(n, 64) * 5;
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

// f<Tile, vector of A, vector of B>()
template <class Tile, class A, class B, class F>
void with_vectors(const GemmSizes& s, const F& f) {
  if (s.fours_a && s.fours_b) return f.template operator()<Tile, 4, 4>();
  // Where both lie along k, it is the same channels that are a multiple of 4.
  if constexpr (!A::with_k || !B::with_k) {
    if (s.fours_a) return f.template operator()<Tile, 4, 1>();
    if (s.fours_b) return f.template operator()<Tile, 1, 4>();
  }
  f.template operator()<Tile, 1, 1>();
}
template <class A, class B, class F>
void with_tile(const GemmSizes& s, GemmPlan::Kind kind, const F& f) {
  using Kind = GemmPlan::Kind;
  if (kind == Kind::kLarge) return f.template operator()<LargeTile, 4, 4>();
  if (kind == Kind::kMedium) return with_vectors<MediumTile, A, B>(s, f);
  if constexpr (A::with_k)
    if (kind == Kind::kTall) return with_vectors<TallTile, A, B>(s, f);
  with_vectors<SmallTile, A, B>(s, f);
}

template <class A, class B>
struct GemmProduct {
  int rows;
  A a;
  B b;
  GemmResult c;

  template <class Tile, int kVectorA, int kVectorB>
  ImplicitGemm<Tile, A, B, kVectorA, kVectorB> gemm(const GemmSizes& s) const {
    return {a,
            b,
            c,
            rows,
            s.columns,
            up(rows, Tile::rows),
            up(s.columns, Tile::columns),
            s.groups};
  }
};

template <class A, class B>
void launch(Stream& stream, const GemmSizes& s, const GemmPlan& plan,
            std::int64_t ranges, const GemmProduct<A, B>& product) {
  with_tile<A, B>(s, plan.kind, [&]<class Tile, int kVectorA, int kVectorB>() {
    whole_blocks(stream, plan.tiles * ranges, Tile::shared,
                 product.template gemm<Tile, kVectorA, kVectorB>(s));
  });
}

template <class Tile, int kVectorA, int kVectorB, class A, class B>
void launch_together(Stream& stream, const GemmSizes& s,
                     std::span<const GemmProduct<A, B>> products) {
  constexpr std::size_t kMost = 4;
  Gemms<ImplicitGemm<Tile, A, B, kVectorA, kVectorB>, kMost> some{};
  int blocks = 0;
  for (const auto& product : products.first(std::min(kMost, products.size()))) {
    auto& gemm = some.each[some.count];
    gemm = product.template gemm<Tile, kVectorA, kVectorB>(s);
    some.begin[some.count++] = blocks;
    blocks += gemm.blocks();
  }
  whole_blocks(stream, blocks, Tile::shared, some);
  if (products.size() > kMost)
    launch_together<Tile, kVectorA, kVectorB>(stream, s,
                                              products.subspan(kMost));
}

// s: their rows together.
template <class A, class B>
void launch(Stream& stream, const GemmSizes& s, const GemmPlan& plan,
            std::span<const GemmProduct<A, B>> products) {
  with_tile<A, B>(s, plan.kind, [&]<class Tile, int kVectorA, int kVectorB>() {
    if constexpr (std::is_same_v<Tile, LargeTile>) {
      // Each has blocks enough, and no register to spare.
      for (const auto& product : products) {
        const auto gemm = product.template gemm<Tile, kVectorA, kVectorB>(s);
        whole_blocks(stream, gemm.blocks(), Tile::shared, gemm);
      }
    } else {
      launch_together<Tile, kVectorA, kVectorB>(stream, s, products);
    }
  });
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_GEMM_TILES_H_
