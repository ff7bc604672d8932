// The time line of a run: when each worker was there, and what befell it.

#ifndef DL_LIBCORE_PLOT_TIMELINE_H_
#define DL_LIBCORE_PLOT_TIMELINE_H_

#include <string>

#include "libcore/plot/history.h"

namespace dl::plot {

// An svg element of the class "chart": a lane for the master and each worker,
// up to 40; "" if nothing happened.
std::string timeline_svg(const History& history);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_TIMELINE_H_
