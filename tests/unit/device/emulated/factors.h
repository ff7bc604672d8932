// Numbers as tensor cores multiply them.

#ifndef DL_TESTS_UNIT_DEVICE_EMULATED_FACTORS_H_
#define DL_TESTS_UNIT_DEVICE_EMULATED_FACTORS_H_

#include <bit>
#include <cstdint>

namespace dl::device::cuda {

enum class FactorType { kFloat, kTf32, kBfloat16 };

// TF32 keeps 10 bits after the first, to nearest, and float32's exponent.
inline float as_tf32(float x) {
  if (x != x) return x;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0x1000U) & ~0x1fffU);
}

// To nearest, of two the even one.
inline std::uint16_t as_bfloat16(float x) {
  if (x != x) return 0x7fc0;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

// Number i of an array.
inline double factor_at(const void* data, FactorType type, std::int64_t i) {
  if (type == FactorType::kBfloat16)
    return std::bit_cast<float>(
        std::uint32_t{static_cast<const std::uint16_t*>(data)[i]} << 16);
  const float x = static_cast<const float*>(data)[i];
  return type == FactorType::kTf32 ? as_tf32(x) : x;
}

}  // namespace dl::device::cuda

#endif  // DL_TESTS_UNIT_DEVICE_EMULATED_FACTORS_H_
