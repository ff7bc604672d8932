// Gradients that are mostly zero: finding what is not, and sums over it.

#ifndef DL_LIBCORE_DEVICE_CPU_KERNELS_SPARSE_SUM_H_
#define DL_LIBCORE_DEVICE_CPU_KERNELS_SPARSE_SUM_H_

#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/device/cpu/kernels/vectors.h"

namespace dl::device {
namespace {

DL_ALWAYS int find_in_vector(Weighted to, const float* dy,
                             const std::uint8_t* winner,
                             const std::int32_t* window, std::int32_t right,
                             std::int32_t down) {
  const Mask q = __builtin_convertvector(
      *reinterpret_cast<const LooseBytes*>(winner), Mask);
  Mask place = *reinterpret_cast<const LooseMask*>(window);
  place += ((q & 1) != 0 ? Mask{} + right : Mask{}) +
           ((q & 2) != 0 ? Mask{} + down : Mask{});
  const Vec factor = load(dy);
#ifdef __AVX512F__
  const __mmask16 some =
      _mm512_cmp_ps_mask(factor, _mm512_setzero_ps(), _CMP_NEQ_UQ);
  _mm512_storeu_si512(to.place, _mm512_maskz_compress_epi32(
                                    some, reinterpret_cast<__m512i>(place)));
  _mm512_storeu_ps(to.factor, _mm512_maskz_compress_ps(some, factor));
  return __builtin_popcount(some);
#else
  int count = 0;
  for (int i = 0; i < kLanes; ++i) {
    to.place[count] = place[i];
    to.factor[count] = factor[i];
    count += factor[i] != 0 ? 1 : 0;
  }
  return count;
#endif
}

std::int64_t find_winners(Weighted to, const float* dy,
                          const std::uint8_t* winner,
                          const std::int32_t* window, std::int64_t vectors,
                          std::int64_t step, std::int32_t right,
                          std::int32_t down) {
  std::int64_t count = 0;
  for (std::int64_t v = 0; v < vectors; ++v)
    count +=
        find_in_vector({to.place + count, to.factor + count}, dy + v * step,
                       winner + v * step, window + v * kLanes, right, down);
  return count;
}

struct SparseSum {
  float* out;
  std::int64_t out_row;
  const float* in;
  std::int64_t in_row;
  const std::int32_t* place;
  const float* factor;
  std::int64_t count;
};

template <int rows, int vectors>
void sparse_sum_of(const SparseSum& s) {
  Vec sum[rows][vectors];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 24
    for (int v = 0; v < vectors; ++v)
      sum[r][v] = load(s.out + r * s.out_row + v * kLanes);
  for (std::int64_t i = 0; i < s.count; ++i) {
    const float* in = s.in + s.place[i];
    const float factor = s.factor[i];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 24
      for (int v = 0; v < vectors; ++v)
        sum[r][v] += factor * load(in + v * kLanes);
      in += s.in_row;
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 24
    for (int v = 0; v < vectors; ++v)
      store(s.out + r * s.out_row + v * kLanes, sum[r][v]);
}

// How many rows at a time leave the sums in registers.
constexpr int rows_at_once(int vectors) {
  const int rows = kSums / vectors;
  return rows > 5 ? 5 : rows;
}

template <int rows, int vectors>
void sparse_rows(std::int64_t left, SparseSum& s) {
  while (left >= rows) {
    sparse_sum_of<rows, vectors>(s);
    s.out += rows * s.out_row;
    s.in += rows * s.in_row;
    left -= rows;
  }
  if constexpr (rows > 1) sparse_rows<rows - 1, vectors>(left, s);
}

template <int vectors>
void sparse_vectors(std::int64_t wanted, std::int64_t rows, SparseSum& s) {
  if constexpr (vectors > 1) {
    if (wanted < vectors) return sparse_vectors<vectors - 1>(wanted, rows, s);
  }
  sparse_rows<rows_at_once(vectors), vectors>(rows, s);
}

void add_weighted(float* out, std::int64_t out_row, const float* in,
                  std::int64_t in_row, std::int64_t rows, std::int64_t vectors,
                  Weighted terms, std::int64_t count) {
  constexpr std::int64_t most = kSums < 16 ? kSums : 16;
  const std::int64_t pieces = (vectors + most - 1) / most;
  for (std::int64_t p = 0; p < pieces; ++p) {
    const std::int64_t begin = vectors * p / pieces,
                       end = vectors * (p + 1) / pieces;
    SparseSum s = {
        out + begin * kLanes, out_row, in + begin * kLanes, in_row, terms.place,
        terms.factor,         count};
    sparse_vectors<most>(end - begin, rows, s);
  }
}

}  // namespace
}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_KERNELS_SPARSE_SUM_H_
