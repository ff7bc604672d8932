// The report about a table.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_REPORT_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_REPORT_H_

#include <map>
#include <string>

#include "libcore/base/json.h"
#include "libcore/vectorize/analysis/association.h"
#include "libcore/vectorize/analysis/table_profile.h"

namespace dl::vectorize {

// {"rows", "duplicates", "label", "columns": [{"name", "type", "missing",
// ...}], "alerts": [{"column", "alert"}]}, as dl-preprocess(1) describes it.
// label: the name of the column to predict, or "".  with_label: the
// correlations of the other columns with it, or none.
Json analysis_of(const TableProfile& table, const std::string& label,
                 const std::map<std::string, Association>& with_label = {});

// The same for people: a line for each column, then the most frequent values of
// words, correlations with the label, and alerts.
std::string analysis_text(const Json& analysis);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_REPORT_H_
