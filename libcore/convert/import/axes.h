// Sizes of windows and inputs, written down.

#ifndef DL_LIBCORE_CONVERT_IMPORT_AXES_H_
#define DL_LIBCORE_CONVERT_IMPORT_AXES_H_

#include <cstdint>
#include <string>
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

// An example that may be typed for extents some of which are open, "?,?,3":
// "10,10,3".
inline std::string example_of(const std::string& extents) {
  std::string example;
  for (const char c : extents)
    example += c == '?' ? std::string("10") : std::string(1, c);
  return example;
}

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_AXES_H_
