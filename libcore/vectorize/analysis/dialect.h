// The way in which a file writes a table, as its first rows show it.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_DIALECT_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_DIALECT_H_

#include <string>

namespace dl::vectorize {

// The delimiter that cuts the first rows into the most columns, as many in
// each: one of , ; tab and |; as an option has it.  A comma if none does.
// Throws Error: kNoInput, kData.
std::string find_delimiter(const std::string& file);

// Whether the first rows have numbers with a comma, and none with a point, as
// 3,14.  Throws Error: as above.
bool has_decimal_commas(const std::string& file, const std::string& delimiter);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_DIALECT_H_
