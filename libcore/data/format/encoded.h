// Stored form of a tensor whose examples are of different lengths: pictures
// that stay JPEG, sequences without their padding.

#ifndef DL_LIBCORE_DATA_FORMAT_ENCODED_H_
#define DL_LIBCORE_DATA_FORMAT_ENCODED_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/tensor/tensor.h"

namespace dl::data {

enum class Encoding {
  kNone,   // the values of an example, as many as its shape says
  kJpeg,   // a JPEG file, U8, of a picture [height, width, channels]
  kRagged  // the steps of a sequence, as many as it has
};
std::string_view name_of(Encoding encoding);  // "jpeg", "ragged"; "" of kNone
// Throws Error: kData, there is none of that name.
Encoding encoding_named(const std::string& name);

// The values of a record's examples, one after the other.
struct Encoded {
  Encoding encoding = Encoding::kNone;
  tensor::DType dtype = tensor::DType::kU8;
  tensor::Shape value;  // of one: [] of the bytes of a file, else of a step
  std::vector<std::byte> bytes;
  // Places of each example's first value, and the end of the last: rising from
  // 0.
  std::vector<std::int64_t> offsets = {0};

  std::int64_t examples() const {
    return static_cast<std::int64_t>(offsets.size()) - 1;
  }
  std::size_t value_bytes() const {
    return static_cast<std::size_t>(value.elements()) * tensor::size_of(dtype);
  }
  std::span<const std::byte> example(std::int64_t i) const;
  void append(std::span<const std::byte> example);
  // Examples [begin, end), copied.
  Encoded slice(std::int64_t begin, std::int64_t end) const;
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_FORMAT_ENCODED_H_
