// Test whether somebody named a layer.

#ifndef DL_LIBCORE_CONVERT_EXPORT_LAYER_NAME_H_
#define DL_LIBCORE_CONVERT_EXPORT_LAYER_NAME_H_

#include <string>
#include <string_view>

namespace dl::convert {

// "conv2d1" of a conv2d: the name of a layer that was given none.
inline bool is_numbered(const std::string& name, std::string_view type) {
  return name.starts_with(type) &&
         name.find_first_not_of("0123456789", type.size()) == std::string::npos;
}

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_LAYER_NAME_H_
