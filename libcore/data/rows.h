// Examples as rows of bytes: the tensors' values one after the other, in the
// order of their names.  Encoded ones have the length of their bytes before
// them, in 4 bytes.

#ifndef DL_LIBCORE_DATA_ROWS_H_
#define DL_LIBCORE_DATA_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/format/metadata.h"

namespace dl::data {

// Bytes of an example that is decoded: of a row, where nothing is encoded.
std::size_t row_bytes(const std::map<std::string, Field>& schema);
// Puts example i into `row`, reusing its memory.
void get_row(const DataSet& set, const std::map<std::string, Field>& schema,
             std::int64_t i, std::vector<std::byte>& row);
// Example i of make_set(), which has all before it.
// Throws kBug unless `row` has the right size.
void put_row(DataSet& set, const std::map<std::string, Field>& schema,
             std::int64_t i, std::span<const std::byte> row);
// Calls take(tensor, its bytes) for each part of a row.
void each_part(std::span<const std::byte> row,
               const std::map<std::string, Field>& schema,
               const std::function<void(const std::string&,
                                        std::span<const std::byte>)>& take);
// n examples of zeros; of encoded tensors none yet.
DataSet make_set(const std::map<std::string, Field>& schema, std::int64_t n);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_ROWS_H_
