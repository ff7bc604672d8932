// Filters of a convolution as pictures.

#ifndef DL_LIBCORE_PLOT_FILTERS_H_
#define DL_LIBCORE_PLOT_FILTERS_H_

#include <span>
#include <string>

#include "libcore/tensor/shape.h"

namespace dl::plot {

// weights: [filters, height, width, channels], each filter drawn by itself from
// its lowest weight in black to its highest in white; three channels as colors,
// of other numbers the first in grey.  Returns an img element with up to 64 of
// them; "" if they are no pictures.
std::string filters_image(const tensor::Shape& shape,
                          std::span<const float> weights);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_FILTERS_H_
