// Drift: how far the columns of two tables are distributed otherwise.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_DRIFT_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_DRIFT_H_

#include <string>

#include "libcore/base/json.h"
#include "libcore/vectorize/analysis/table_profile.h"

namespace dl::vectorize {

// {"rows": [A, B], "bound", "drifted": N, "columns": [{"name", "type", "psi",
// "by_chance", "missing": [A, B], "drifts", ...}]}, as dl-preprocess(1)
// describes it.  A column drifts if its population stability index (Siddiqi
// 2006, Credit Risk Scorecards) is above the bound, and above that of 95 % of
// samples of one population (Yurdakul 2018), or if it is in one table alone.
Json drift_of(const TableProfile& before, const TableProfile& after,
              double bound);

// The same for people: a line for each column.
std::string drift_text(const Json& drift);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_DRIFT_H_
