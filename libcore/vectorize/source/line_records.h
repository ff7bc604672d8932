// Records of lines that have a row of a table each.

#ifndef DL_LIBCORE_VECTORIZE_SOURCE_LINE_RECORDS_H_
#define DL_LIBCORE_VECTORIZE_SOURCE_LINE_RECORDS_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/source/input_lines.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {

// Names of the columns of an input, and kPlaceColumn behind them.  what: "two
// columns".  Throws Error: kData, two have one name.
inline RecordColumns::Names names_of_columns(std::vector<std::string> names,
                                             const std::string& input,
                                             const char* what) {
  std::set<std::string> seen;
  for (const std::string& name : names)
    if (!name.empty() && !seen.insert(name).second)
      bad_data(input + " has " + what + " " + in_quotes(name) +
               ", and a recipe finds them by name: rename one");
  names.emplace_back(kPlaceColumn);
  return std::make_shared<const ColumnNames>(names);
}

// Makes a record of the line that was given last.  add: adds its columns, in
// their order; what it throws of code kData is the record's problem.
template <typename Add>
void make_record_of_line(const InputLines& lines,
                         const RecordColumns::Names& names, Record& record,
                         const Add& add) {
  record = {};
  record.input = lines.name();
  record.line = lines.number();
  record.columns = RecordColumns(names);
  try {
    add();
  } catch (const Error& e) {
    if (e.code() != Code::kData) throw;
    record.problem = e.what();
    record.columns = {};
  }
  (void)record.columns.emplace(kPlaceColumn,
                               place_of(*record.input, record.line));
}

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SOURCE_LINE_RECORDS_H_
