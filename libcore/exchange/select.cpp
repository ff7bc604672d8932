// One pass of comparisons, with the widest registers there are.

#include "libcore/exchange/select.h"

#include <bit>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dl::exchange {
namespace {

std::uint64_t select_word(const float* x, float threshold, std::size_t n) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < n; ++i)
    mask |= static_cast<std::uint64_t>(std::fabs(x[i]) >= threshold) << i;
  return mask;
}

void select_portable(const float* x, float threshold, std::uint64_t* masks,
                     std::size_t words) {
  for (std::size_t w = 0; w < words; ++w)
    masks[w] = select_word(x + 64 * w, threshold, 64);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void select_avx2(const float* x,
                                                 float threshold,
                                                 std::uint64_t* masks,
                                                 std::size_t words) {
  const __m256 limit = _mm256_set1_ps(threshold);
  const __m256 sign = _mm256_set1_ps(-0.0F);
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t mask = 0;
    for (int i = 0; i < 8; ++i) {
      __m256 v = _mm256_andnot_ps(sign, _mm256_loadu_ps(x + 64 * w + 8 * i));
      __m256 over = _mm256_cmp_ps(v, limit, _CMP_GE_OQ);
      mask |= static_cast<std::uint64_t>(_mm256_movemask_ps(over)) << (8 * i);
    }
    masks[w] = mask;
  }
}

__attribute__((target("avx512f"))) void select_avx512(const float* x,
                                                      float threshold,
                                                      std::uint64_t* masks,
                                                      std::size_t words) {
  const __m512 limit = _mm512_set1_ps(threshold);
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t mask = 0;
    for (int i = 0; i < 4; ++i) {
      __m512 v = _mm512_abs_ps(_mm512_loadu_ps(x + 64 * w + 16 * i));
      __mmask16 over = _mm512_cmp_ps_mask(v, limit, _CMP_GE_OQ);
      mask |= static_cast<std::uint64_t>(over) << (16 * i);
    }
    masks[w] = mask;
  }
}
#endif

}  // namespace

std::vector<SelectWay> select_ways() {
  std::vector<SelectWay> ways;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    ways.push_back({"avx512", select_avx512});
  if (__builtin_cpu_supports("avx2")) ways.push_back({"avx2", select_avx2});
#endif
  ways.push_back({"portable", select_portable});
  return ways;
}

std::int64_t select_over(std::span<const float> x, float threshold,
                         std::span<std::uint64_t> masks) {
  const std::size_t words = x.size() / 64, rest = x.size() % 64;
  static const SelectWay kBest = select_ways().front();
  kBest.select(x.data(), threshold, masks.data(), words);
  if (rest > 0)
    masks[words] = select_word(x.data() + 64 * words, threshold, rest);
  std::int64_t count = 0;
  for (std::uint64_t mask : masks) count += std::popcount(mask);
  return count;
}

}  // namespace dl::exchange
