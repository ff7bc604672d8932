#include "libcore/vectorize/schema.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/format/decode.h"

namespace dl::vectorize {

std::int64_t record_examples(std::int64_t batch, const Schema& schema) {
  std::int64_t bytes = 0;
  for (const auto& [name, field] : schema) {
    const std::int64_t elements = field.shape.elements();
    const auto size = static_cast<std::int64_t>(tensor::size_of(field.dtype));
    if (field.shape.rank() > 0 && field.shape.back() > kMaxColumns)
      throw Error{Code::kData, "'" + displayed(name) + "' of " +
                                   field.shape.to_string() + " has more than " +
                                   std::to_string(kMaxColumns) + " columns"};
    if (elements > kMaxBytes / size || (bytes += elements * size) > kMaxBytes)
      throw Error{Code::kData, "an example with '" + displayed(name) + "' of " +
                                   field.shape.to_string() +
                                   " is over 128 MiB"};
  }
  return std::clamp<std::int64_t>(kMaxBytes / std::max<std::int64_t>(bytes, 1),
                                  1, batch);
}

tensor::DType target_type(tensor::DType read_as) {
  using tensor::DType;
  return read_as == DType::kF64 || read_as == DType::kI32 ||
                 read_as == DType::kI64
             ? DType::kF64
             : DType::kF32;
}

data::DataSet make_record(const Schema& schema, std::int64_t n) {
  data::DataSet set;
  for (const auto& [name, field] : schema) {
    set.tensors.emplace(name,
                        tensor::Tensor(field.dtype, field.shape.with_first(n)));
    if (field.encoding != data::Encoding::kNone)
      set.encoded.emplace(name, data::encoded_like(field));
  }
  return set;
}

void clear_example(data::DataSet& set, std::int64_t i) {
  for (auto& [name, t] : set.tensors) {
    const auto bytes = t.bytes();
    const std::size_t row =
        bytes.size() / static_cast<std::size_t>(t.shape()[0]);
    const auto part = bytes.subspan(static_cast<std::size_t>(i) * row, row);
    std::fill(part.begin(), part.end(), std::byte{0});
  }
}

void set_index(data::DataSet& set, std::int64_t i, std::int64_t index) {
  set.tensors.at("index").as<std::int64_t>()[static_cast<std::size_t>(i)] =
      index;
}

}  // namespace dl::vectorize
