// All numbers of runs as CSV: what charts are drawn from, before thinning.

#ifndef DL_LIBCORE_PLOT_RUN_DATA_H_
#define DL_LIBCORE_PLOT_RUN_DATA_H_

#include <string>
#include <vector>

#include "libcore/plot/run.h"

namespace dl::plot {

// A header, and a row a number: run, series, worker, epoch (from 0), batches
// (mini-batches in the model so far), seconds and value, of which those that
// do not apply are empty.  Numbers read back as they are in events.jsonl.
std::string run_data(const std::vector<Run>& runs);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_RUN_DATA_H_
