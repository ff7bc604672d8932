// The way in which a file writes a table, as its first rows show it.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_DIALECT_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_DIALECT_H_

#include <string>

namespace dl::vectorize {

// The delimiter that cuts the first rows into the most columns, as many in
// each: one of , ; tab and |; as an option has it.  A comma if none does.
// Throws Error: kNoInput, kData.
std::string find_delimiter(const std::string& file);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_DIALECT_H_
