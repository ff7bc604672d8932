// The layer type "add".

#include "libcore/nn/layers/parts/add.h"

namespace dl::nn::layers {

const LayerType& add() {
  static const LayerType type{
      .name = "add",
      .words = "The sum of two or more inputs of one shape.",
      .other_names = {"elementwiseadd", "sum"},
      .inputs = {2, kAnyNumber},
      .infer = infer_add<false>,
      .make = make<Sum<false>>};
  return type;
}

}  // namespace dl::nn::layers
