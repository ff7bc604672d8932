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

// Columns whose numbers have a comma in the first rows; the first row names
// them.
struct CommaColumns {
  // Before decimals, and none a point, as 3,14.
  std::vector<std::string> decimals;
  bool are_in_all = false;  // no column has numbers with a point
  // Between thousands, as 1,234.5 and 1,234,567; without decimal commas as
  // 1,234, too.
  std::vector<std::string> thousands;
};
// decimals: whether there may be decimal commas.  Throws Error: as above.
CommaColumns find_commas(const std::string& file, const std::string& delimiter,
                         const std::string& encoding, bool decimals);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_DIALECT_H_
