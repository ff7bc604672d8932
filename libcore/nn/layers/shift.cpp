// The layer type "shift".

#include "libcore/nn/layers/parts/scale.h"

namespace dl::nn::layers {

const LayerType& shift() {
  static const LayerType type{
      .name = "shift",
      .words = "y = x + amount.",
      .other_names = {"shiftvertex"},
      .keys = {key::number("amount", "required", "Amount added to each number.",
                           kAny)},
      .infer = infer_scale<true>,
      .make = make<Shift>};
  return type;
}

}  // namespace dl::nn::layers
