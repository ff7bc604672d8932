// Conversion of tensors' numbers from ONNX's types.

#include "libcore/convert/import/onnx/numbers.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace dl::convert::onnx {
namespace {

// Each number of a stored type, as another one.
template <typename Stored, typename To, typename F>
std::vector<To> each(std::span<const std::byte> bytes, F&& of) {
  std::vector<To> all(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < all.size(); ++i) {
    Stored value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    all[i] = of(value);
  }
  return all;
}

template <typename Stored>
std::vector<std::int64_t> wholes(std::span<const std::byte> bytes) {
  return each<Stored, std::int64_t>(
      bytes, [](Stored value) { return static_cast<std::int64_t>(value); });
}

}  // namespace

std::size_t size_of(int type) {
  switch (static_cast<ElementType>(type)) {
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kBool:
      return 1;
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kHalf:
    case ElementType::kBrain:
      return 2;
    case ElementType::kFloat:
    case ElementType::kInt32:
    case ElementType::kUint32:
      return 4;
    case ElementType::kInt64:
    case ElementType::kUint64:
    case ElementType::kDouble:
      return 8;
  }
  return 0;
}

bool is_real(int type) {
  const auto known = static_cast<ElementType>(type);
  return known == ElementType::kFloat || known == ElementType::kDouble ||
         known == ElementType::kHalf || known == ElementType::kBrain;
}

float half_to_float(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float size = 0;
  if (exponent == 31)
    size = fraction == 0 ? std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  else if (exponent == 0)
    size = std::ldexp(static_cast<float>(fraction), -24);
  else
    size = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return bits >> 15 != 0 ? -size : size;
}

float brain_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::vector<float> reals_in(int type, std::span<const std::byte> bytes) {
  switch (static_cast<ElementType>(type)) {
    case ElementType::kHalf:
      return each<std::uint16_t, float>(bytes, half_to_float);
    case ElementType::kBrain:
      return each<std::uint16_t, float>(bytes, brain_to_float);
    case ElementType::kDouble:
      return each<double, float>(
          bytes, [](double value) { return static_cast<float>(value); });
    default:
      return each<float, float>(bytes, [](float value) { return value; });
  }
}

std::vector<std::int64_t> wholes_in(int type,
                                    std::span<const std::byte> bytes) {
  switch (static_cast<ElementType>(type)) {
    case ElementType::kUint8:
    case ElementType::kBool:
      return wholes<std::uint8_t>(bytes);
    case ElementType::kInt8:
      return wholes<std::int8_t>(bytes);
    case ElementType::kUint16:
      return wholes<std::uint16_t>(bytes);
    case ElementType::kInt16:
      return wholes<std::int16_t>(bytes);
    case ElementType::kInt32:
      return wholes<std::int32_t>(bytes);
    case ElementType::kUint32:
      return wholes<std::uint32_t>(bytes);
    case ElementType::kUint64:
      return wholes<std::uint64_t>(bytes);
    default:
      return wholes<std::int64_t>(bytes);
  }
}

}  // namespace dl::convert::onnx
