// normalizer.bin: what DL4J does to data before a network sees them.

#ifndef DL_LIBCORE_CONVERT_IMPORT_DL4J_NORMALIZER_H_
#define DL_LIBCORE_CONVERT_IMPORT_DL4J_NORMALIZER_H_

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include "libcore/base/json.h"
#include "libcore/data/statistics/normalizer.h"

namespace dl::convert::dl4j {

// The member of a model as JSON: {"inputs": [NORMALIZER], "outputs":
// [NORMALIZER]} as data::to_json() has them, or {"unread": "why"} of one that
// is not of DL4J's own.
// Throws Error: kData, it is damaged.
Json read_normalizer(std::span<const std::byte> member);

}  // namespace dl::convert::dl4j

#endif  // DL_LIBCORE_CONVERT_IMPORT_DL4J_NORMALIZER_H_
