// Analyses of tables in files, from which they are merged and compared.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_SAVED_ANALYSIS_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_SAVED_ANALYSIS_H_

#include <string>

#include "libcore/base/json.h"
#include "libcore/vectorize/analysis/infer_table.h"

namespace dl::vectorize {

// Whether an operand is one: its name ends in .json.
bool is_saved_analysis(const std::string& path);

// A report, analysis_of(), with all that load_analysis() wants, as
// dl-preprocess(1) describes it.
Json saved_analysis(Json report, const InferredTable& table);

// Throws Error: kNoInput; kData, it is none, or of a later version.
InferredTable load_analysis(const std::string& path);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_SAVED_ANALYSIS_H_
