// "summary" events of a history, dl-run(5).

#ifndef DL_LIBCORE_PLOT_SUMMARY_EVENT_H_
#define DL_LIBCORE_PLOT_SUMMARY_EVENT_H_

#include <optional>

#include "libcore/plot/event_line.h"
#include "libcore/plot/history.h"

namespace dl::plot {

// The summary at that time; none: it has no layers, or far too many.
std::optional<Summary> summary_of(EventValue event, double seconds);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_SUMMARY_EVENT_H_
