// The columns of a table, after all of its rows were seen.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_TABLE_PROFILE_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_TABLE_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/vectorize/analysis/column_profile.h"
#include "libcore/vectorize/bad_records.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {

struct TableProfile {
  std::int64_t rows = 0;  // without bad ones
  // Rows that are the same as one before, of the first kMostCompared rows.
  static constexpr std::int64_t kMostCompared = 1 << 20;
  std::int64_t duplicates = 0;
  // An input of the same rows as one before it, "'a.csv'"; "": none is known.
  std::string repeated_input = {};
  std::vector<std::string> missing_words;
  std::vector<ColumnProfile> columns;  // in the order of the table

  // Null: there is no column of that name.
  const ColumnProfile* find(const std::string& name) const;
  // The column that a name, or a number from 1 (-1: the last), means.
  // Throws Error: kUsage, "--id: there is no column ...".
  const ColumnProfile& find(const std::string& word, const char* option) const;

  // Adds the rows of a later part of the table.  Rows of both that are the same
  // are not found.
  void merge(const TableProfile& next);
  // All of it, for a file.
  Json state() const;
  // Throws Error: kData, no state() is like this.
  static TableProfile of_state(const JsonView& json);
};

// missing_words: beside an empty field.  The profile does not depend on the
// number of threads.
// Throws Error: kData, the table has no rows; what the source throws.
TableProfile profile_table(RecordSource& source,
                           std::vector<std::string> missing_words,
                           BadRecords& bad, int threads);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_TABLE_PROFILE_H_
