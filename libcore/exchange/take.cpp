// The pass with the widest registers there are.

#include "libcore/exchange/take.h"

#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dl::exchange {
namespace {

// Appends without a branch: the word is written in any case, and kept if it has
// a hit.
inline void append(HitWord* out, std::size_t& count, std::size_t word,
                   std::uint64_t hits, std::uint64_t signs) {
  out[count] = {word, hits, hits & signs};
  count += hits != 0;
}

// n <= 64 elements of word `word`.
template <bool kTake>
void portable_word(float* r, const float* update, float threshold,
                   std::size_t n, std::size_t word, HitWord* out,
                   std::size_t& count) {
  std::uint64_t hits = 0, signs = 0;
  for (std::size_t i = 0; i < n; ++i) {
    float v = r[i];
    if (kTake && update) v += update[i];
    const bool over = std::fabs(v) >= threshold;
    hits |= static_cast<std::uint64_t>(over) << i;
    signs |= static_cast<std::uint64_t>(std::signbit(v)) << i;
    if (kTake) r[i] = over ? v - std::copysign(threshold, v) : v;
  }
  append(out, count, word, hits, signs);
}

std::size_t take_portable(float* r, const float* update, float threshold,
                          std::size_t words, HitWord* out) {
  std::size_t count = 0;
  for (std::size_t w = 0; w < words; ++w)
    portable_word<true>(r + 64 * w, update ? update + 64 * w : nullptr,
                        threshold, 64, w, out, count);
  return count;
}

std::size_t select_portable(const float* x, float threshold, std::size_t words,
                            HitWord* out) {
  std::size_t count = 0;
  for (std::size_t w = 0; w < words; ++w)
    portable_word<false>(const_cast<float*>(x) + 64 * w, nullptr, threshold, 64,
                         w, out, count);
  return count;
}

#if defined(__x86_64__)
template <bool kTake, bool kAdd>
__attribute__((target("avx2"))) std::size_t avx2(float* r, const float* update,
                                                 float threshold,
                                                 std::size_t words,
                                                 HitWord* out) {
  const __m256 limit = _mm256_set1_ps(threshold);
  const __m256 sign = _mm256_set1_ps(-0.0F);
  std::size_t count = 0;
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t hits = 0, signs = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t at = 64 * w + 8 * i;
      __m256 v = _mm256_loadu_ps(r + at);
      if (kAdd) v = _mm256_add_ps(v, _mm256_loadu_ps(update + at));
      const __m256 over =
          _mm256_cmp_ps(_mm256_andnot_ps(sign, v), limit, _CMP_GE_OQ);
      hits |= std::uint64_t{static_cast<unsigned>(_mm256_movemask_ps(over))}
              << (8 * i);
      signs |= std::uint64_t{static_cast<unsigned>(_mm256_movemask_ps(v))}
               << (8 * i);
      if (!kTake) continue;
      const __m256 quantum = _mm256_or_ps(_mm256_and_ps(v, sign), limit);
      v = _mm256_blendv_ps(v, _mm256_sub_ps(v, quantum), over);
      _mm256_storeu_ps(r + at, v);
    }
    append(out, count, w, hits, signs);
  }
  return count;
}

std::size_t take_avx2(float* r, const float* update, float threshold,
                      std::size_t words, HitWord* out) {
  return update ? avx2<true, true>(r, update, threshold, words, out)
                : avx2<true, false>(r, nullptr, threshold, words, out);
}

std::size_t select_avx2(const float* x, float threshold, std::size_t words,
                        HitWord* out) {
  return avx2<false, false>(const_cast<float*>(x), nullptr, threshold, words,
                            out);
}

template <bool kTake, bool kAdd>
__attribute__((target("avx512f"))) std::size_t avx512(float* r,
                                                      const float* update,
                                                      float threshold,
                                                      std::size_t words,
                                                      HitWord* out) {
  const __m512 limit = _mm512_set1_ps(threshold);
  const __m512i sign = _mm512_set1_epi32(INT32_MIN);
  std::size_t count = 0;
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t hits = 0, signs = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t at = 64 * w + 16 * i;
      __m512 v = _mm512_loadu_ps(r + at);
      if (kAdd) v = _mm512_add_ps(v, _mm512_loadu_ps(update + at));
      const __m512i bits = _mm512_castps_si512(v);
      const __mmask16 over =
          _mm512_cmp_ps_mask(_mm512_abs_ps(v), limit, _CMP_GE_OQ);
      hits |= std::uint64_t{over} << (16 * i);
      signs |= std::uint64_t{_mm512_test_epi32_mask(bits, sign)} << (16 * i);
      if (!kTake) continue;
      const __m512i quantum = _mm512_or_si512(_mm512_and_si512(bits, sign),
                                              _mm512_castps_si512(limit));
      v = _mm512_mask_sub_ps(v, over, v, _mm512_castsi512_ps(quantum));
      _mm512_storeu_ps(r + at, v);
    }
    append(out, count, w, hits, signs);
  }
  return count;
}

std::size_t take_avx512(float* r, const float* update, float threshold,
                        std::size_t words, HitWord* out) {
  return update ? avx512<true, true>(r, update, threshold, words, out)
                : avx512<true, false>(r, nullptr, threshold, words, out);
}

std::size_t select_avx512(const float* x, float threshold, std::size_t words,
                          HitWord* out) {
  return avx512<false, false>(const_cast<float*>(x), nullptr, threshold, words,
                              out);
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
  if (__builtin_cpu_supports("avx512f"))
    ways.push_back({"avx512", take_avx512, select_avx512});
  if (__builtin_cpu_supports("avx2"))
    ways.push_back({"avx2", take_avx2, select_avx2});
#endif
  ways.push_back({"portable", take_portable, select_portable});
  return ways;
}

std::size_t take_over(std::span<float> r, std::span<const float> update,
                      float threshold, HitWord* out) {
  const std::size_t words = r.size() / 64, rest = r.size() % 64;
  const float* u = update.empty() ? nullptr : update.data();
  std::size_t count = best_way().take(r.data(), u, threshold, words, out);
  if (rest > 0)
    portable_word<true>(r.data() + 64 * words, u ? u + 64 * words : nullptr,
                        threshold, rest, words, out, count);
  return count;
}

std::size_t select_over(std::span<const float> x, float threshold,
                        HitWord* out) {
  const std::size_t words = x.size() / 64, rest = x.size() % 64;
  std::size_t count = best_way().select(x.data(), threshold, words, out);
  if (rest > 0)
    portable_word<false>(const_cast<float*>(x.data()) + 64 * words, nullptr,
                         threshold, rest, words, out, count);
  return count;
}

}  // namespace dl::exchange
