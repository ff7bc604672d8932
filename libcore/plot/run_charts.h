// The charts of a run, or of several over each other.

#ifndef DL_LIBCORE_PLOT_RUN_CHARTS_H_
#define DL_LIBCORE_PLOT_RUN_CHARTS_H_

#include <string>
#include <vector>

#include "libcore/plot/chart.h"
#include "libcore/plot/run.h"

namespace dl::plot {

// Charts under one heading; none is empty.
struct Group {
  std::string id, title;
  std::vector<Chart> charts;
};

std::vector<Group> charts_of(const std::vector<Run>& runs);

// Names of runs, each once: "a", "a (2)".
std::vector<std::string> names_of(const std::vector<Run>& runs);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_RUN_CHARTS_H_
