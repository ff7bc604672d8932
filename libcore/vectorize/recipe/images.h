// `dl-preprocess images`: the short way to say a recipe for pictures.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_IMAGES_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_IMAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/vectorize/recipe/recipe.h"

namespace dl::vectorize {

// As the options of these names have them; "" and 0: not given.
struct ImageOptions {
  std::string size;  // "224x224", width and height
  std::string fit, interpolation, color;
  std::string store;  // u8, jpeg, smart
  std::int64_t quality = 90;
  std::int64_t shorter = 0, max_pixels = 100'000'000, id_bytes = 0;
  bool scaled_decoding = false;
  bool labels = true;
  std::string classes;  // names, separated by commas, their number, or ""
  std::string label_from, label_pattern;
  bool webdataset = false;
  bool table = false;       // files have a table of labels beside them
  bool regression = false;  // labels are numbers
};

// Throws Error: kUsage, "--fit: want one of crop, pad, stretch, got ...".
Recipe recipe_of(const ImageOptions& options);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_IMAGES_H_
