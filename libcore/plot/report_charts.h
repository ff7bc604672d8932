// The charts of an evaluation, as dl-eval --json has it.

#ifndef DL_LIBCORE_PLOT_REPORT_CHARTS_H_
#define DL_LIBCORE_PLOT_REPORT_CHARTS_H_

#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/plot/chart.h"

namespace dl::plot {

// Name of output `i` of an evaluation.
std::string output_name(const Json& evaluation, std::size_t i);

// evaluation: whole and valid, of kind roc or calibration; prefix: of the ids.
// ROC and precision-recall curves, and precision and recall by threshold; of
// two classes those of the second, of more than eight outputs those of the
// eight with the smallest area.
std::vector<Chart> roc_charts(const Json& evaluation,
                              const std::string& prefix);
// Errors of a forecast by how many rows it is ahead, of the model and the naive
// forecasts; none: they are of one row.
std::vector<Chart> horizon_charts(const Json& evaluation,
                                  const std::string& prefix);
// The reliability diagram, and how often each confidence was.
std::vector<Chart> calibration_charts(const Json& evaluation,
                                      const std::string& prefix);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_REPORT_CHARTS_H_
