// Pictures as PNG, by the program rsvg-convert.

#ifndef DL_LIBCORE_PLOT_PNG_H_
#define DL_LIBCORE_PLOT_PNG_H_

#include <string>

namespace dl::plot {

// svg: as to_picture() has it for renderers.
// Throws Error: kUnavailable, there is no rsvg-convert, or it fails.
std::string to_png(const std::string& svg);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_PNG_H_
