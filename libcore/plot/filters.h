// Filters of a convolution as pictures.

#ifndef DL_LIBCORE_PLOT_FILTERS_H_
#define DL_LIBCORE_PLOT_FILTERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/nn/model/model.h"
#include "libcore/tensor/shape.h"

namespace dl::plot {

// Up to 64 filters side by side, as PNG.
struct FilterPicture {
  std::string name;  // of the tensor
  std::int64_t filters = 0, filter_width = 0, filter_height = 0;
  std::int64_t width = 0, height = 0, channels = 0;
  std::vector<std::byte> png;
};

// weights: [filters, height, width, channels], each filter drawn by itself from
// its lowest weight in black to its highest in white; three channels as colors,
// of other numbers the first in grey.  Returns none if they are no pictures.
std::optional<FilterPicture> draw_filters(const tensor::Shape& shape,
                                          std::span<const float> weights);
// Filters of the first tensor of the model that has two dimensions at least.
std::optional<FilterPicture> filters_of(const nn::Model& model);
// An img element, enlarged.  of: what they are, for who does not see them.
std::string to_image(const FilterPicture& picture, const char* of = "filters");

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_FILTERS_H_
