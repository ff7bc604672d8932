// From files of a table to the recipe that they ask for.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_INFER_TABLE_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_INFER_TABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/vectorize/analysis/propose.h"
#include "libcore/vectorize/analysis/table_profile.h"
#include "libcore/vectorize/bad_records.h"

namespace dl::vectorize {

struct TableInput {
  std::vector<std::string> inputs;  // files, which are read more than once
  std::string delimiter;            // as the option has it; "": to be found
  std::string query, table;         // of SQLite, or ""
  std::string decimal;              // "." or ","; "": to be found
  std::string encoding;             // of CSV; "": UTF-8
  std::string widths;  // of columns, as the option has them; "": CSV
  std::string na;      // words that count as missing, separated by commas
  int threads = 1;
};

struct InferredTable {
  Json source;                         // its object in a recipe
  std::vector<std::string> sentences;  // of all that was found of the format
  TableProfile profile;                // of all rows
};

// Its rows once more, as the source of a recipe reads them.  tell_encoding:
// told of files whose byte order mark says another.
// Throws Error: kNoInput, kData.
std::unique_ptr<RecordSource> open_table(const std::vector<std::string>& inputs,
                                         const Json& source,
                                         const Log& tell_encoding = {});

// Throws Error: kUsage, an input is no file; kNoInput, kData.
InferredTable infer_table(const TableInput& input, BadRecords& bad);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_INFER_TABLE_H_
