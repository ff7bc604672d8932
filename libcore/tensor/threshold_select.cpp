// The pass with the widest registers there are.

#include "libcore/tensor/threshold_select.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dl::tensor {
namespace {

// Appends without a branch: the word is written in any case, and kept if it has
// a hit.
inline void append(HitWord* out, std::size_t& count, std::uint64_t first,
                   std::uint64_t hits) {
  out[count] = {first, hits};
  count += hits != 0;
}

// n <= 64 elements, the first of which is called `first`.
template <bool kTake>
void portable_word(float* r, const float* update, float threshold,
                   std::size_t n, std::uint64_t first, HitWord* out,
                   std::size_t& count, double& given) {
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float more = kTake && update ? update[i] : -0.0F;
    const float v = r[i] + more;
    given += static_cast<double>(more);
    const float size = std::fabs(v);
    const bool over = size >= threshold;
    hits |= static_cast<std::uint64_t>(over) << i;
    if (kTake) r[i] = over ? std::copysign(size - threshold, v) : v;
  }
  append(out, count, first, hits);
}

std::size_t take_portable(float* r, const float* update, float threshold,
                          std::size_t words, std::uint64_t first, HitWord* out,
                          double& given) {
  std::size_t count = 0;
  for (std::size_t w = 0; w < words; ++w)
    portable_word<true>(r + 64 * w, update ? update + 64 * w : nullptr,
                        threshold, 64, first + 64 * w, out, count, given);
  return count;
}

std::size_t select_portable(const float* x, float threshold, std::size_t words,
                            std::uint64_t first, HitWord* out) {
  std::size_t count = 0;
  double none = 0;
  for (std::size_t w = 0; w < words; ++w)
    portable_word<false>(const_cast<float*>(x) + 64 * w, nullptr, threshold, 64,
                         first + 64 * w, out, count, none);
  return count;
}

#if defined(__x86_64__)
template <bool kTake, bool kAdd>
__attribute__((target("avx2"))) std::size_t avx2(float* r, const float* update,
                                                 float threshold,
                                                 std::size_t words,
                                                 std::uint64_t first,
                                                 HitWord* out, double& given) {
  const __m256 limit = _mm256_set1_ps(threshold);
  const __m256 sign = _mm256_set1_ps(-0.0F);
  __m256d sums = _mm256_setzero_pd();
  std::size_t count = 0;
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t hits = 0;
    __m256 sum = _mm256_setzero_ps();  // of this word
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t at = 64 * w + 8 * i;
      __m256 v = _mm256_loadu_ps(r + at);
      if (kAdd) {
        const __m256 more = _mm256_loadu_ps(update + at);
        v = _mm256_add_ps(v, more);
        sum = _mm256_add_ps(sum, more);
      }
      const __m256 size = _mm256_andnot_ps(sign, v);
      const __m256 over = _mm256_cmp_ps(size, limit, _CMP_GE_OQ);
      hits |= std::uint64_t{static_cast<unsigned>(_mm256_movemask_ps(over))}
              << (8 * i);
      if (!kTake) continue;
      const __m256 rest = _mm256_sub_ps(size, _mm256_and_ps(over, limit));
      _mm256_storeu_ps(r + at, _mm256_or_ps(rest, _mm256_and_ps(v, sign)));
    }
    append(out, count, first + 64 * w, hits);
    if (!kAdd) continue;
    const __m128 half =
        _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
    sums = _mm256_add_pd(sums, _mm256_cvtps_pd(half));
  }
  for (int i = 0; kAdd && i < 4; ++i) given += sums[i];
  return count;
}

std::size_t take_avx2(float* r, const float* update, float threshold,
                      std::size_t words, std::uint64_t first, HitWord* out,
                      double& given) {
  return update
             ? avx2<true, true>(r, update, threshold, words, first, out, given)
             : avx2<true, false>(r, nullptr, threshold, words, first, out,
                                 given);
}

std::size_t select_avx2(const float* x, float threshold, std::size_t words,
                        std::uint64_t first, HitWord* out) {
  double none = 0;
  return avx2<false, false>(const_cast<float*>(x), nullptr, threshold, words,
                            first, out, none);
}

template <bool kTake, bool kAdd>
__attribute__((target("avx512f,avx512bw"))) std::size_t avx512(
    float* r, const float* update, float threshold, std::size_t words,
    std::uint64_t first, HitWord* out, double& given) {
  const __m512 limit = _mm512_set1_ps(threshold);
  const __m512i sign = _mm512_set1_epi32(INT32_MIN);
  __m512d sums = _mm512_setzero_pd();
  std::size_t count = 0;
  for (std::size_t w = 0; w < words; ++w) {
    __mmask16 over[4];
    __m512 sum = _mm512_setzero_ps();  // of this word
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t at = 64 * w + 16 * i;
      __m512 v = _mm512_loadu_ps(r + at);
      if (kAdd) {
        const __m512 more = _mm512_loadu_ps(update + at);
        v = _mm512_add_ps(v, more);
        sum = _mm512_add_ps(sum, more);
      }
      const __m512 size = _mm512_abs_ps(v);
      over[i] = _mm512_cmp_ps_mask(size, limit, _CMP_GE_OQ);
      if (!kTake) continue;
      const __m512 rest = _mm512_mask_sub_ps(size, over[i], size, limit);
      // rest | (v & sign)
      const __m512i signed_rest = _mm512_ternarylogic_epi32(
          _mm512_castps_si512(rest), _mm512_castps_si512(v), sign, 0xf8);
      _mm512_storeu_ps(r + at, _mm512_castsi512_ps(signed_rest));
    }
    const __mmask32 low = _mm512_kunpackw(over[1], over[0]);
    const __mmask32 high = _mm512_kunpackw(over[3], over[2]);
    append(out, count, first + 64 * w, _mm512_kunpackd(high, low));
    if (!kAdd) continue;
    // With masks, as gcc 12 takes the plain ones for uses of no value.
    const __m512d both = _mm512_castps_pd(sum);
    const __m256 half = _mm256_add_ps(
        _mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(0xf, both, 0)),
        _mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(0xf, both, 1)));
    sums = _mm512_add_pd(sums, _mm512_maskz_cvtps_pd(0xff, half));
  }
  for (int i = 0; kAdd && i < 8; ++i) given += sums[i];
  return count;
}

std::size_t take_avx512(float* r, const float* update, float threshold,
                        std::size_t words, std::uint64_t first, HitWord* out,
                        double& given) {
  return update ? avx512<true, true>(r, update, threshold, words, first, out,
                                     given)
                : avx512<true, false>(r, nullptr, threshold, words, first, out,
                                      given);
}

std::size_t select_avx512(const float* x, float threshold, std::size_t words,
                          std::uint64_t first, HitWord* out) {
  double none = 0;
  return avx512<false, false>(const_cast<float*>(x), nullptr, threshold, words,
                              first, out, none);
}
#endif

const TakeWay& best_way() {
  static const TakeWay kBest = take_ways().front();
  return kBest;
}

}  // namespace

std::vector<TakeWay> take_ways() {
  std::vector<TakeWay> ways;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw"))
    ways.push_back({"avx512", take_avx512, select_avx512});
  if (__builtin_cpu_supports("avx2"))
    ways.push_back({"avx2", take_avx2, select_avx2});
#endif
  ways.push_back({"portable", take_portable, select_portable});
  return ways;
}

std::size_t take_over(std::span<float> r, std::span<const float> update,
                      float threshold, std::uint64_t first, HitWord* out,
                      double& given) {
  float* x = r.data();
  const float* u = update.empty() ? nullptr : update.data();
  std::size_t n = r.size(), count = 0;
  const auto part = [&](std::size_t elements) {
    portable_word<true>(x, u, threshold, elements, first, out, count, given);
  };
  const auto passed = [&](std::size_t elements) {
    x += elements;
    if (u) u += elements;
    first += elements;
    n -= elements;
  };
  // Stores that cross a cache line cost two.
  const std::size_t lead = std::min(n, to_line(x));
  if (lead > 0) part(lead);
  passed(lead);
  const std::size_t words = n / 64;
  count += best_way().take(x, u, threshold, words, first, out + count, given);
  passed(64 * words);
  if (n > 0) part(n);
  return count;
}

std::size_t select_over(std::span<const float> x, float threshold,
                        HitWord* out) {
  const std::size_t words = x.size() / 64, rest = x.size() % 64;
  std::size_t count = best_way().select(x.data(), threshold, words, 0, out);
  double none = 0;
  if (rest > 0)
    portable_word<false>(const_cast<float*>(x.data()) + 64 * words, nullptr,
                         threshold, rest, 64 * words, out, count, none);
  return count;
}

}  // namespace dl::tensor
