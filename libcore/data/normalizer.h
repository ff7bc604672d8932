// A Normalizer turns stored features into reals: (x - shift) * scale, by
// column (last dimension).  It is made once, from the statistics of the
// training data, and travels with the model.

#ifndef DL_LIBCORE_DATA_NORMALIZER_H_
#define DL_LIBCORE_DATA_NORMALIZER_H_

#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/data/metadata.h"

namespace dl::data {

struct Normalizer {
  std::string kind = "none";        // none, scale, standardize, minmax
  std::vector<double> shift = {0};  // [1] or [columns]
  std::vector<double> scale = {1};

  // kind: "none"; "scale", the dtype's range to 0..1 (uint8: x / 255);
  // "standardize", mean 0 and deviation 1 (deviations under 1e-5 count as 1);
  // "minmax", each column's range to 0..1; "auto", scale for integers of one
  // byte and none for the rest.
  // Throws Error: kConfig, the statistics it needs are not in the metadata.
  static Normalizer fit(std::string_view kind, const Metadata& metadata);

  Json to_json() const;
  static Normalizer from_json(const JsonView& json);
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_NORMALIZER_H_
