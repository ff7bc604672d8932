// Charts below each other as one SVG file that stands alone.

#ifndef DL_LIBCORE_PLOT_PICTURES_H_
#define DL_LIBCORE_PLOT_PICTURES_H_

#include <string>
#include <vector>

#include "libcore/plot/chart.h"

namespace dl::plot {

std::string to_picture(const std::vector<Chart>& charts);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_PICTURES_H_
