// The layer type "repeat".

#include "libcore/nn/layers/parts/repeat.h"

namespace dl::nn::layers {

const LayerType& repeat() {
  static const LayerType type{
      .name = "repeat",
      .words = "Repeats the input as a sequence of *n* equal steps.",
      .other_names = {"repeatvector"},
      .keys = {key::integer("n", "required", "Number of steps.", kSmall)},
      .infer = infer_repeat,
      .make = make<Repeat>};
  return type;
}

}  // namespace dl::nn::layers
