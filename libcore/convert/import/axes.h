// Sizes of a window, as keys of a node.

#ifndef DL_LIBCORE_CONVERT_IMPORT_AXES_H_
#define DL_LIBCORE_CONVERT_IMPORT_AXES_H_

#include <cstdint>
#include <vector>

#include "libcore/base/json.h"

namespace dl::convert {

// One axis has a number, several have an array.
inline void put_axes(Json& node, const char* key,
                     const std::vector<std::int64_t>& sizes) {
  if (sizes.size() == 1)
    node[key] = sizes[0];
  else
    node[key] = sizes;
}

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_AXES_H_
