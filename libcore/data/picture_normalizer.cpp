#include "libcore/data/picture_normalizer.h"

#include <algorithm>

namespace dl::data {

bool is_of_pictures(std::string_view kind) {
  return kind == "imagenet" || kind == "vgg";
}

Normalizer picture_normalizer(std::string_view kind, bool bgr) {
  constexpr double kBytes = 255;
  Normalizer n{"standardize", {123.68, 116.779, 103.939}, {1, 1, 1}};
  if (kind == "imagenet") {
    n.shift = {0.485 * kBytes, 0.456 * kBytes, 0.406 * kBytes};
    n.scale = {1 / (0.229 * kBytes), 1 / (0.224 * kBytes),
               1 / (0.225 * kBytes)};
  }
  if (!bgr) return n;
  std::ranges::reverse(n.shift);
  std::ranges::reverse(n.scale);
  return n;
}

}  // namespace dl::data
