// The layer type "max".

#include "libcore/nn/layers/parts/max.h"

namespace dl::nn::layers {

const LayerType& max() {
  static const LayerType type{
      .name = "max",
      .words =
          "The largest of two or more inputs of one shape, number by "
          "number.",
      .other_names = {"maximum", "elementwisemax"},
      .inputs = {2, kAnyNumber},
      .infer = infer_max,
      .make = make<Choice<Extreme::kMax>>};
  return type;
}

}  // namespace dl::nn::layers
