// The diagram of a network on a page.

#ifndef DL_LIBCORE_PLOT_DIAGRAM_H_
#define DL_LIBCORE_PLOT_DIAGRAM_H_

#include "libcore/nn/config/config.h"
#include "libcore/plot/page.h"

namespace dl::plot {

// The drawing, and a table of the layers behind it.
void add_diagram(Page& page, const nn::NetworkConfig& network);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_DIAGRAM_H_
