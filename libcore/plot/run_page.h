// The page of a run, or of several beside each other.

#ifndef DL_LIBCORE_PLOT_RUN_PAGE_H_
#define DL_LIBCORE_PLOT_RUN_PAGE_H_

#include <string>
#include <vector>

#include "libcore/plot/run.h"

namespace dl::plot {

std::string run_page(const std::vector<Run>& runs);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_RUN_PAGE_H_
