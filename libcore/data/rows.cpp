// Packing of examples into rows of bytes.

#include "libcore/data/rows.h"

#include <cstring>

#include "libcore/base/error.h"

namespace dl::data {

std::size_t row_bytes(const std::map<std::string, Field>& schema) {
  std::size_t sum = 0;
  for (const auto& [name, field] : schema)
    sum += static_cast<std::size_t>(field.shape.elements()) *
           tensor::size_of(field.dtype);
  return sum;
}

void get_row(const DataSet& set, std::int64_t i, std::span<std::byte> row) {
  for (const auto& [name, t] : set.tensors) {
    const std::size_t n =
        t.bytes().size() / static_cast<std::size_t>(t.shape()[0]);
    require(n <= row.size(), "a row is too small for its example");
    if (n > 0)
      std::memcpy(row.data(),
                  t.bytes().data() + static_cast<std::size_t>(i) * n, n);
    row = row.subspan(n);
  }
  require(row.empty(), "a row is too large for its example");
}

void put_row(DataSet& set, std::int64_t i, std::span<const std::byte> row) {
  for (auto& [name, t] : set.tensors) {
    const std::size_t n =
        t.bytes().size() / static_cast<std::size_t>(t.shape()[0]);
    require(n <= row.size(), "a row is too small for its example");
    if (n > 0)
      std::memcpy(t.bytes().data() + static_cast<std::size_t>(i) * n,
                  row.data(), n);
    row = row.subspan(n);
  }
  require(row.empty(), "a row is too large for its example");
}

DataSet make_set(const std::map<std::string, Field>& schema, std::int64_t n) {
  DataSet set;
  for (const auto& [name, field] : schema)
    set.tensors.emplace(name,
                        tensor::Tensor(field.dtype, field.shape.with_first(n)));
  return set;
}

}  // namespace dl::data
