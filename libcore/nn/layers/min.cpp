// The layer type "min".

#include "libcore/nn/layers/parts/max.h"

namespace dl::nn::layers {

const LayerType& min() {
  static const LayerType type{
      .name = "min",
      .words =
          "The smallest of two or more inputs of one shape, number by "
          "number.",
      .other_names = {"minimum", "elementwisemin"},
      .inputs = {2, kAnyNumber},
      .infer = infer_max,
      .make = make<Choice<Extreme::kMin>>};
  return type;
}

}  // namespace dl::nn::layers
