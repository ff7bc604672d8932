// Charts below each other as one SVG file that stands alone.

#ifndef DL_LIBCORE_PLOT_PICTURES_H_
#define DL_LIBCORE_PLOT_PICTURES_H_

#include <string>
#include <string_view>
#include <vector>

#include "libcore/plot/chart.h"

namespace dl::plot {

// plain: in light colors, without variables of CSS, which many renderers lack.
std::string to_picture(const std::vector<Chart>& charts, bool plain = false);

// The style of charts without variables: rules of a line's color are repeated
// for each.
std::string plain_style(std::string_view style);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_PICTURES_H_
