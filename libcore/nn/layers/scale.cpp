// The layer type "scale".

#include "libcore/nn/layers/parts/scale.h"

namespace dl::nn::layers {

const LayerType& scale() {
  static const LayerType type{
      .name = "scale",
      .words = "y = factor x.",
      .other_names = {"rescaling", "scalevertex"},
      .keys = {key::number("factor", "required", "Factor of each number.",
                           kAny)},
      .infer = infer_scale<false>,
      .make = make<Scale>};
  return type;
}

}  // namespace dl::nn::layers
