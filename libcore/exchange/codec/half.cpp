// Conversion from and to binary16.

#include "libcore/exchange/codec/half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#include "libcore/base/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dl::exchange {
namespace {

#if defined(__x86_64__)
// Both return how many they did; every processor with AVX2 has F16C.
__attribute__((target("avx2,f16c"))) std::size_t to_half_wide(const float* from,
                                                              std::uint16_t* to,
                                                              std::size_t n) {
  const __m256 most = _mm256_set1_ps(kMaxHalf);
  const __m256 least = _mm256_set1_ps(-kMaxHalf);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256 v =
        _mm256_max_ps(_mm256_min_ps(_mm256_loadu_ps(from + i), most), least);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}

__attribute__((target("avx2,f16c"))) std::size_t from_half_wide(
    const std::uint16_t* from, float* to, std::size_t n) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(
                                 reinterpret_cast<const __m128i*>(from + i))));
  return i;
}

bool wide() { return __builtin_cpu_supports("avx2"); }
#else
std::size_t to_half_wide(const float*, std::uint16_t*, std::size_t) {
  return 0;
}
std::size_t from_half_wide(const std::uint16_t*, float*, std::size_t) {
  return 0;
}
bool wide() { return false; }
#endif

}  // namespace

std::uint16_t half_of(float value) {
  const float size = std::min(std::fabs(value), kMaxHalf);
  const auto sign = static_cast<std::uint16_t>(
      std::bit_cast<std::uint32_t>(value) >> 16 & 0x8000U);
  // Normal halves begin at 2^-14; below, and above, the unit of the last place
  // is added and taken off, which rounds.
  const int exponent = std::max(std::ilogb(size), -14);
  const float unit = size == 0 ? 1 : std::ldexp(1.0F, exponent - 10);
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(size / unit));
  if (size == 0) return sign;
  // A carry from the fraction goes on into the exponent, as it should.
  return static_cast<std::uint16_t>(
      sign | (static_cast<std::uint32_t>(exponent + 14) * 1024 + steps));
}

float float_of(std::uint16_t half) {
  const unsigned exponent = half >> 10 & 31U, fraction = half & 1023U;
  const float size = exponent == 31 ? (fraction ? NAN : INFINITY)
                     : exponent == 0
                         ? std::ldexp(static_cast<float>(fraction), -24)
                         : std::ldexp(static_cast<float>(fraction + 1024),
                                      static_cast<int>(exponent) - 25);
  return half & 0x8000U ? -size : size;
}

void to_half(std::span<const float> from, std::span<std::uint16_t> to) {
  require(from.size() == to.size(), "halves of all");
  const std::size_t done =
      wide() ? to_half_wide(from.data(), to.data(), to.size()) : 0;
  std::transform(from.begin() + static_cast<std::ptrdiff_t>(done), from.end(),
                 to.begin() + static_cast<std::ptrdiff_t>(done), half_of);
}

void from_half(std::span<const std::uint16_t> from, std::span<float> to) {
  require(from.size() == to.size(), "halves of all");
  const std::size_t done =
      wide() ? from_half_wide(from.data(), to.data(), to.size()) : 0;
  std::transform(from.begin() + static_cast<std::ptrdiff_t>(done), from.end(),
                 to.begin() + static_cast<std::ptrdiff_t>(done), float_of);
}

}  // namespace dl::exchange
