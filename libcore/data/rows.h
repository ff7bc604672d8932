// Examples as rows of bytes: the tensors' values one after the other, in the
// order of their names.

#ifndef DL_LIBCORE_DATA_ROWS_H_
#define DL_LIBCORE_DATA_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "libcore/data/format/metadata.h"

namespace dl::data {

std::size_t row_bytes(const std::map<std::string, Field>& schema);
// Throws kBug unless `row` has the right size.
void get_row(const DataSet& set, std::int64_t i, std::span<std::byte> row);
void put_row(DataSet& set, std::int64_t i, std::span<const std::byte> row);
// Zeros.
DataSet make_set(const std::map<std::string, Field>& schema, std::int64_t n);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_ROWS_H_
