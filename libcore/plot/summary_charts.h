// The charts of a run's summaries: dl-master --summary.

#ifndef DL_LIBCORE_PLOT_SUMMARY_CHARTS_H_
#define DL_LIBCORE_PLOT_SUMMARY_CHARTS_H_

#include <string>
#include <vector>

#include "libcore/plot/chart.h"
#include "libcore/plot/run.h"

namespace dl::plot {

// Change by layer, norms and learning rate; of one run also how the parameters
// of each layer are spread.
std::vector<Chart> summary_charts(const Run& run);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_SUMMARY_CHARTS_H_
