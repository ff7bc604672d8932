// The layer type "reshape".

#include "libcore/nn/layers/parts/reshape.h"

namespace dl::nn::layers {

const LayerType& reshape() {
  static const LayerType type{
      .name = "reshape",
      .words =
          "The input in another shape with the same number of elements, in "
          "row-major order.\n"
          "A sequence stays a sequence if the number of steps stays the same.",
      .other_names = {"view", "unflatten", "reshapevertex"},
      .keys = {shape_key()},
      .infer = infer_reshape};
  return type;
}

}  // namespace dl::nn::layers
