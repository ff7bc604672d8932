// Element types of stored tensors.

#ifndef DL_LIBCORE_TENSOR_DTYPE_H_
#define DL_LIBCORE_TENSOR_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dl::tensor {

// kBF16 is of devices alone (precision.h): no file has it.
enum class DType : std::uint8_t {
  kU8,
  kI8,
  kI16,
  kI32,
  kI64,
  kF32,
  kF64,
  kBF16
};

std::size_t size_of(DType type);
std::string_view name_of(DType type);  // as safetensors spells it: "U8", "F32"
// Throws Error: kData, the type is none of ours.
DType dtype_named(std::string_view name);

constexpr bool is_real(DType type) {
  return type == DType::kF32 || type == DType::kF64;
}

template <typename T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<std::uint8_t>() {
  return DType::kU8;
}
template <>
constexpr DType dtype_of<std::int8_t>() {
  return DType::kI8;
}
template <>
constexpr DType dtype_of<std::int16_t>() {
  return DType::kI16;
}
template <>
constexpr DType dtype_of<std::int32_t>() {
  return DType::kI32;
}
template <>
constexpr DType dtype_of<std::int64_t>() {
  return DType::kI64;
}
template <>
constexpr DType dtype_of<float>() {
  return DType::kF32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::kF64;
}

// Calls f.template operator()<T>() with the C++ type of `type`, which has one:
//   visit_dtype(t.dtype(), [&]<typename T>() { ... t.as<T>() ... });
template <typename F>
decltype(auto) visit_dtype(DType type, F&& f) {
  switch (type) {
    case DType::kU8:
      return f.template operator()<std::uint8_t>();
    case DType::kI8:
      return f.template operator()<std::int8_t>();
    case DType::kI16:
      return f.template operator()<std::int16_t>();
    case DType::kI32:
      return f.template operator()<std::int32_t>();
    case DType::kI64:
      return f.template operator()<std::int64_t>();
    case DType::kF32:
      return f.template operator()<float>();
    default:
      return f.template operator()<double>();
  }
}

}  // namespace dl::tensor

#endif  // DL_LIBCORE_TENSOR_DTYPE_H_
