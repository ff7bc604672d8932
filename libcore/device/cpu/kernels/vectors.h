// Vectors of kLanes floats and what the kernels do with them.  Included once by
// each of avx512.cpp, avx2.cpp and portable.cpp, which define kLanes before.

#ifndef DL_LIBCORE_DEVICE_CPU_KERNELS_VECTORS_H_
#define DL_LIBCORE_DEVICE_CPU_KERNELS_VECTORS_H_

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <cstdint>
#include <utility>

#define DL_ALWAYS static inline __attribute__((always_inline))

namespace dl::device {
namespace {

using Vec [[gnu::vector_size(kLanes * 4)]] = float;
using Mask [[gnu::vector_size(kLanes * 4)]] = int;
using Words [[gnu::vector_size(kLanes * 4)]] = std::uint32_t;
using Bytes [[gnu::vector_size(kLanes)]] = std::uint8_t;
// For memory that is aligned to its elements only.
using Loose [[gnu::vector_size(kLanes * 4), gnu::aligned(4), gnu::may_alias]] =
    float;
using LooseMask
    [[gnu::vector_size(kLanes * 4), gnu::aligned(4), gnu::may_alias]] = int;
using LooseWords
    [[gnu::vector_size(kLanes * 4), gnu::aligned(4), gnu::may_alias]] =
        std::uint32_t;
using LooseBytes [[gnu::vector_size(kLanes), gnu::aligned(1), gnu::may_alias]] =
    std::uint8_t;

DL_ALWAYS Vec load(const float* p) {
  return *reinterpret_cast<const Loose*>(p);
}
DL_ALWAYS void store(float* p, Vec v) { *reinterpret_cast<Loose*>(p) = v; }
DL_ALWAYS Words load(const std::uint32_t* p) {
  return *reinterpret_cast<const LooseWords*>(p);
}
DL_ALWAYS void store(std::uint32_t* p, Words v) {
  *reinterpret_cast<LooseWords*>(p) = v;
}

// Lanes of a and b by turns of `run`: the first halves of the runs, or the
// second ones.
template <int run, bool second, int... i>
DL_ALWAYS Vec interleave(Vec a, Vec b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(
      a, b,
      ((i % (2 * run) < run ? i : i - run + kLanes) + (second ? run : 0))...);
}

// One step of turning rows into columns: swaps blocks of run x run.
template <int run, int count>
DL_ALWAYS void swap_blocks(Vec (&rows)[count]) {
  constexpr auto lanes = std::make_integer_sequence<int, kLanes>();
#pragma GCC unroll 16
  for (int i = 0; i < count; ++i) {
    if (i & run) continue;
    const Vec a = rows[i], b = rows[i + run];
    rows[i] = interleave<run, false>(a, b, lanes);
    rows[i + run] = interleave<run, true>(a, b, lanes);
  }
}

// rows[i][j] becomes rows[j][i], in each `count` lanes of the vectors.
template <int count>
DL_ALWAYS void turn(Vec (&rows)[count]) {
  if constexpr (count > 8) swap_blocks<8>(rows);
  if constexpr (count > 4) swap_blocks<4>(rows);
  if constexpr (count > 2) swap_blocks<2>(rows);
  swap_blocks<1>(rows);
}

}  // namespace
}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_KERNELS_VECTORS_H_
