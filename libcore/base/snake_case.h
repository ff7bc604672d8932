// The name that Keras gives the weights of a layer, by the layer's class.

#ifndef DL_LIBCORE_BASE_SNAKE_CASE_H_
#define DL_LIBCORE_BASE_SNAKE_CASE_H_

#include <cctype>
#include <cstddef>
#include <string>

namespace dl {

// "MaxPooling2D" as "max_pooling2d", "PReLU" as "p_re_lu": a '_' goes before
// each capital that has a small letter before or behind it.
inline std::string snake_case(const std::string& name) {
  const auto is = [&](int (*kind)(int), std::size_t i) {
    return i < name.size() && kind(static_cast<unsigned char>(name[i])) != 0;
  };
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && is(std::isupper, i) &&
        (is(std::islower, i - 1) || is(std::islower, i + 1)))
      text += '_';
    text +=
        static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return text;
}

}  // namespace dl

#endif  // DL_LIBCORE_BASE_SNAKE_CASE_H_
