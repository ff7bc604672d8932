// binary16: one sign bit, five of exponent, ten of fraction (IEEE 754).

#ifndef DL_LIBCORE_EXCHANGE_CODEC_HALF_H_
#define DL_LIBCORE_EXCHANGE_CODEC_HALF_H_

#include <cstdint>
#include <span>
#include <vector>

namespace dl::exchange {

constexpr float kMaxHalf = 65504;
constexpr std::uint16_t kHalfInfinity = 0x7c00;  // larger patterns are NaN

// Rounded to nearest, ties to even; beyond +-kMaxHalf, that.  No NaN.
std::uint16_t half_of(float value);
float float_of(std::uint16_t half);

// Element by element, of equal sizes; AVX-512 or AVX2 where there is.
void to_half(std::span<const float> from, std::span<std::uint16_t> to);
void from_half(std::span<const std::uint16_t> from, std::span<float> to);

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_HALF_H_
