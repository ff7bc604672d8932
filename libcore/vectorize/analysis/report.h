// The report about a table.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_REPORT_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_REPORT_H_

#include <string>

#include "libcore/base/json.h"
#include "libcore/vectorize/analysis/table_profile.h"

namespace dl::vectorize {

// {"rows", "duplicates", "columns": [{"name", "type", "missing", ...}],
// "alerts": [{"column", "alert"}]}, as dl-preprocess(1) describes it.
// label: the name of the column to predict, or "".
Json analysis_of(const TableProfile& table, const std::string& label);

// The same for people: a line for each column, then the most frequent values of
// words, then the alerts.
std::string analysis_text(const Json& analysis);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_REPORT_H_
