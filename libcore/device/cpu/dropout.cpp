// Dropout masks: Philox4x32-10 over positions, of which only the first of four
// words is drawn.  By hand, for compilers do not see that the products are of
// 32 bits: a word lies in the lower half of 64 bits, where the instruction
// takes its factors and with it carries on what is above.

#include <array>
#include <cmath>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/philox.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dl::device {
namespace {

constexpr std::uint32_t kFirstFactor = 0xD2511F53, kSecondFactor = 0xCD9E8D57;
constexpr int kRounds = 10;

// The keys of all rounds.
struct Keys {
  std::array<std::uint32_t, kRounds> low, high;
};

Keys keys_of(std::uint64_t key) {
  Keys keys{};
  auto low = static_cast<std::uint32_t>(key);
  auto high = static_cast<std::uint32_t>(key >> 32);
  for (std::size_t r = 0; r < kRounds; ++r) {
    keys.low[r] = low;
    keys.high[r] = high;
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return keys;
}

void draw_portable(float* mask, const Draws& d, std::int64_t n) {
  const Keys keys = keys_of(d.key);
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint64_t c0 = d.first + static_cast<std::uint64_t>(i), c1 = c0 >> 32;
    std::uint64_t c2 = d.stream, c3 = d.stream >> 32;
    for (std::size_t r = 0; r < kRounds; ++r) {
      const std::uint64_t a = (c0 & 0xFFFFFFFF) * kFirstFactor;
      const std::uint64_t b = (c2 & 0xFFFFFFFF) * kSecondFactor;
      c0 = b >> 32 ^ c1 ^ keys.low[r];
      c1 = b;
      c2 = a >> 32 ^ c3 ^ keys.high[r];
      c3 = a;
    }
    mask[i] = (c0 & 0xFFFFFFFF) < d.bound ? d.kept : 0.0F;
  }
}

#if defined(__x86_64__)

// kChains vectors at once: a round waits for the one before it.
constexpr std::size_t kChains = 4;

__attribute__((target("avx2"), always_inline)) inline __m256i all4(
    std::uint64_t x) {
  return _mm256_set1_epi64x(static_cast<long long>(x));
}

__attribute__((target("avx2"))) void draw_avx2(float* mask, const Draws& d,
                                               std::int64_t n) {
  constexpr std::int64_t kStep = 4 * kChains;
  const Keys keys = keys_of(d.key);
  const __m256i first_factor = all4(kFirstFactor);
  const __m256i second_factor = all4(kSecondFactor);
  std::int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    __m256i c0[kChains], c1[kChains], c2[kChains], c3[kChains];
    __m256i position =
        _mm256_add_epi64(all4(d.first + static_cast<std::uint64_t>(i)),
                         _mm256_set_epi64x(3, 2, 1, 0));
    for (std::size_t k = 0; k < kChains; ++k) {
      c0[k] = position;
      c1[k] = _mm256_srli_epi64(position, 32);
      c2[k] = all4(d.stream);
      c3[k] = all4(d.stream >> 32);
      position = _mm256_add_epi64(position, all4(4));
    }
    for (std::size_t r = 0; r < kRounds; ++r)
      for (std::size_t k = 0; k < kChains; ++k) {
        const __m256i a = _mm256_mul_epu32(first_factor, c0[k]);
        const __m256i b = _mm256_mul_epu32(second_factor, c2[k]);
        c0[k] = _mm256_xor_si256(_mm256_srli_epi64(b, 32),
                                 _mm256_xor_si256(c1[k], all4(keys.low[r])));
        c1[k] = b;
        c2[k] = _mm256_xor_si256(_mm256_srli_epi64(a, 32),
                                 _mm256_xor_si256(c3[k], all4(keys.high[r])));
        c3[k] = a;
      }
    for (std::size_t k = 0; k < kChains; ++k) {
      // Below 2^33 both, so that a signed comparison will do.
      const __m256i draw = _mm256_and_si256(c0[k], all4(0xFFFFFFFF));
      const __m256i below = _mm256_cmpgt_epi64(all4(d.bound), draw);
      const __m256i halves = _mm256_permutevar8x32_epi32(
          below, _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0));
      _mm_storeu_ps(mask + i + 4 * static_cast<std::int64_t>(k),
                    _mm_and_ps(_mm_castsi128_ps(_mm256_castsi256_si128(halves)),
                               _mm_set1_ps(d.kept)));
    }
  }
  Draws rest = d;
  rest.first += static_cast<std::uint64_t>(i);
  draw_portable(mask + i, rest, n - i);
}

// g++ 12 takes offence at its own header.
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

__attribute__((target("avx512f"), always_inline)) inline __m512i all8(
    std::uint64_t x) {
  return _mm512_set1_epi64(static_cast<long long>(x));
}

__attribute__((target("avx512f"))) void draw_avx512(float* mask, const Draws& d,
                                                    std::int64_t n) {
  constexpr std::int64_t kStep = 8 * kChains;
  const Keys keys = keys_of(d.key);
  const __m512i first_factor = all8(kFirstFactor);
  const __m512i second_factor = all8(kSecondFactor);
  constexpr int kXor3 = 0x96;
  std::int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    __m512i c0[kChains], c1[kChains], c2[kChains], c3[kChains];
    __m512i position =
        _mm512_add_epi64(all8(d.first + static_cast<std::uint64_t>(i)),
                         _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    for (std::size_t k = 0; k < kChains; ++k) {
      c0[k] = position;
      c1[k] = _mm512_srli_epi64(position, 32);
      c2[k] = all8(d.stream);
      c3[k] = all8(d.stream >> 32);
      position = _mm512_add_epi64(position, all8(8));
    }
    for (std::size_t r = 0; r < kRounds; ++r)
      for (std::size_t k = 0; k < kChains; ++k) {
        const __m512i a = _mm512_mul_epu32(first_factor, c0[k]);
        const __m512i b = _mm512_mul_epu32(second_factor, c2[k]);
        c0[k] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(b, 32), c1[k],
                                          all8(keys.low[r]), kXor3);
        c1[k] = b;
        c2[k] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(a, 32), c3[k],
                                          all8(keys.high[r]), kXor3);
        c3[k] = a;
      }
    for (std::size_t k = 0; k < kChains; ++k) {
      const __m512i draw = _mm512_and_si512(c0[k], all8(0xFFFFFFFF));
      const __mmask8 below = _mm512_cmplt_epu64_mask(draw, all8(d.bound));
      const __m512 kept = _mm512_maskz_mov_ps(below, _mm512_set1_ps(d.kept));
      _mm256_storeu_ps(mask + i + 8 * static_cast<std::int64_t>(k),
                       _mm512_castps512_ps256(kept));
    }
  }
  Draws rest = d;
  rest.first += static_cast<std::uint64_t>(i);
  draw_portable(mask + i, rest, n - i);
}

#pragma GCC diagnostic pop

#endif

}  // namespace

std::vector<DrawWay> draw_ways() {
  std::vector<DrawWay> ways;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    ways.push_back({"avx512", draw_avx512});
  if (__builtin_cpu_supports("avx2")) ways.push_back({"avx2", draw_avx2});
#endif
  ways.push_back({"portable", draw_portable});
  return ways;
}

void CpuDevice::dropout_mask(View mask, double keep, std::uint64_t key,
                             std::uint64_t stream, std::uint64_t first) {
  check_reals(tensor::DType::kF32, {mask});
  static const DrawWay kBest = draw_ways().front();
  // draw * 2^-32 < keep for a whole number `draw`.
  const auto bound = static_cast<std::uint64_t>(std::ceil(keep * 0x1p32));
  kBest.draw(mask.as<float>(),
             {static_cast<float>(1 / keep), bound, key, stream, first},
             mask.elements());
}

}  // namespace dl::device
