// The way in which a file writes a table, as its first rows show it.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_DIALECT_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_DIALECT_H_

#include <string>
#include <vector>

namespace dl::vectorize {

// The delimiter that cuts the first rows into the most columns, as many in
// each: one of , ; tab and |; as an option has it.  A comma if none does.
// encoding: as CsvDialect has it.
// Throws Error: kNoInput, kData.
std::string find_delimiter(const std::string& file,
                           const std::string& encoding);

// Columns whose numbers have a comma in the first rows, and none a point, as
// 3,14; the first row names them.  Throws Error: as above.
struct DecimalCommas {
  std::vector<std::string> columns;
  bool is_in_all = false;  // no column has numbers with a point
};
DecimalCommas find_decimal_commas(const std::string& file,
                                  const std::string& delimiter,
                                  const std::string& encoding);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_DIALECT_H_
