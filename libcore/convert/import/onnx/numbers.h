// Numbers of tensors, in the types that ONNX has for them.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_NUMBERS_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dl::convert::onnx {

// Codes of TensorProto.DataType.
enum class ElementType : int {
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kHalf = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBrain = 16
};

// Bytes of one; 0 of a type that is not read: texts, complex numbers, and those
// of less than a byte.
std::size_t size_of(int type);
bool is_real(int type);  // and else whole

// Little-endian numbers one after the other, of a real type, or of a whole one.
std::vector<float> reals_in(int type, std::span<const std::byte> bytes);
std::vector<std::int64_t> wholes_in(int type, std::span<const std::byte> bytes);

// A number of 16 bits: half precision, or the upper half of a float.
float half_to_float(std::uint16_t bits);
float brain_to_float(std::uint16_t bits);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_NUMBERS_H_
