// Names and sizes of element types.

#include "libcore/tensor/dtype.h"

#include <array>
#include <string>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::tensor {
namespace {

constexpr std::array<std::string_view, 8> kNames = {
    "U8", "I8", "I16", "I32", "I64", "F32", "F64", "BF16"};
constexpr std::size_t kStored = 7;  // the first of these

}  // namespace

std::size_t size_of(DType type) {
  if (type == DType::kBF16) return 2;
  return visit_dtype(type, []<typename T>() { return sizeof(T); });
}

std::string_view name_of(DType type) {
  return kNames.at(static_cast<std::size_t>(type));
}

DType dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < kStored; ++i) {
    if (kNames[i] == name) return static_cast<DType>(i);
  }
  throw Error{Code::kData,
              "element type '" + clipped(name) +
                  "' is not one of U8, I8, I16, I32, I64, F32, F64"};
}

}  // namespace dl::tensor
