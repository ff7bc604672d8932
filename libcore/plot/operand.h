// The kind of an operand of dl-plot.

#ifndef DL_LIBCORE_PLOT_OPERAND_H_
#define DL_LIBCORE_PLOT_OPERAND_H_

#include <string>

namespace dl::plot {

enum class Subject { kRun, kReport, kModel };

// A folder or a history of lines is a run; other JSON is a report of dl-eval;
// all else is a model.
// Throws Error: kNoInput, it cannot be opened; kData, it is empty.
Subject subject_of(const std::string& path);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_OPERAND_H_
