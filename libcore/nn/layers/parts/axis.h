// The axis that a layer's key `axis` names.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_AXIS_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_AXIS_H_

#include <cstdint>
#include <string>

#include "libcore/base/error.h"
#include "libcore/nn/config/layer_type.h"

namespace dl::nn::layers {

// Counted from the first of an example; the key's may be negative, from behind.
// Throws Error: kConfig, an input of this shape has none such.
inline int axis_of(const LayerSettings& settings, const tensor::Shape& input) {
  const std::int64_t axis = settings.integer("axis");
  const std::int64_t from_front = axis < 0 ? axis + input.rank() : axis;
  if (from_front < 0 || from_front >= input.rank())
    bad_config("its input is " + input.to_string() + ", it has no axis " +
               std::to_string(axis));
  return static_cast<int>(from_front);
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_AXIS_H_
