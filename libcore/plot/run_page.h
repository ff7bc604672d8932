// The page of a run, or of several beside each other.

#ifndef DL_LIBCORE_PLOT_RUN_PAGE_H_
#define DL_LIBCORE_PLOT_RUN_PAGE_H_

#include <string>
#include <vector>

#include "libcore/plot/page.h"
#include "libcore/plot/run.h"

namespace dl::plot {

std::string run_page(const std::vector<Run>& runs, const Live& live = {});

// A run in a table of runs, after its name.
std::vector<std::string> overview_head();
std::vector<std::string> overview_row(const Run& run);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_RUN_PAGE_H_
