// Packing of examples into rows of bytes.

#include "libcore/data/rows.h"

#include <cstring>

#include "libcore/base/error.h"
#include "libcore/data/format/decode.h"
#include "libcore/data/format/windows.h"

namespace dl::data {
namespace {

using Length = std::uint32_t;

std::size_t field_bytes(const Field& field) {
  return static_cast<std::size_t>(field.shape.elements()) *
         tensor::size_of(field.dtype);
}

// The bytes of a tensor at the front of `row`, which begins behind them then.
std::span<const std::byte> take_part(std::span<const std::byte>& row,
                                     const Field& field) {
  std::size_t n = field_bytes(field);
  if (field.encoding != Encoding::kNone) {
    Length length = 0;
    require(row.size() >= sizeof length, "a row is too small for its example");
    std::memcpy(&length, row.data(), sizeof length);
    row = row.subspan(sizeof length);
    n = length;
  }
  require(n <= row.size(), "a row is too small for its example");
  const auto part = row.first(n);
  row = row.subspan(n);
  return part;
}

}  // namespace

std::size_t row_bytes(const std::map<std::string, Field>& schema) {
  std::size_t sum = 0;
  for (const auto& [name, field] : schema)
    if (field.encoding != Encoding::kSeries) sum += field_bytes(field);
  return sum;
}

void get_row(const DataSet& set, const std::map<std::string, Field>& schema,
             std::int64_t i, std::vector<std::byte>& row) {
  row.clear();
  for (const auto& [name, field] : schema) {
    if (field.encoding == Encoding::kWindow) continue;
    if (field.encoding != Encoding::kNone) {
      const auto bytes = set.encoded.at(name).example(i);
      const auto length = static_cast<Length>(bytes.size());
      const auto word = std::as_bytes(std::span(&length, 1));
      row.insert(row.end(), word.begin(), word.end());
      row.insert(row.end(), bytes.begin(), bytes.end());
      continue;
    }
    const std::size_t n = field_bytes(field);
    const auto bytes =
        set.get(name).bytes().subspan(static_cast<std::size_t>(i) * n, n);
    row.insert(row.end(), bytes.begin(), bytes.end());
  }
}

void put_row(DataSet& set, const std::map<std::string, Field>& schema,
             std::int64_t i, std::span<const std::byte> row) {
  for (const auto& [name, field] : schema) {
    if (field.encoding == Encoding::kWindow) continue;
    const auto part = take_part(row, field);
    if (field.encoding != Encoding::kNone) {
      set.encoded.at(name).append(part);
    } else if (!part.empty()) {
      std::memcpy(set.tensors.at(name).bytes().data() +
                      static_cast<std::size_t>(i) * part.size(),
                  part.data(), part.size());
    }
  }
  require(row.empty(), "a row is too large for its example");
}

void each_part(std::span<const std::byte> row,
               const std::map<std::string, Field>& schema,
               const std::function<void(const std::string&,
                                        std::span<const std::byte>)>& take) {
  for (const auto& [name, field] : schema)
    if (field.encoding != Encoding::kWindow) take(name, take_part(row, field));
}

DataSet make_set(const std::map<std::string, Field>& schema, std::int64_t n) {
  DataSet set;
  for (const auto& [name, field] : schema) {
    if (field.encoding == Encoding::kWindow) continue;
    if (field.encoding != Encoding::kNone)
      set.encoded.emplace(name, encoded_like(field));
    else
      set.tensors.emplace(
          name, tensor::Tensor(field.dtype, field.shape.with_first(n)));
  }
  add_views(set, schema);
  return set;
}

}  // namespace dl::data
