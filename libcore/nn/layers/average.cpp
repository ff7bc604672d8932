// The layer type "average".

#include "libcore/nn/layers/parts/add.h"

namespace dl::nn::layers {

const LayerType& average() {
  static const LayerType type{
      .name = "average",
      .words = "The mean of two or more inputs of one shape, number by number.",
      .other_names = {"elementwiseaverage"},
      .inputs = {2, kAnyNumber},
      .infer = infer_add<true>,
      .make = make<Sum<true>>};
  return type;
}

}  // namespace dl::nn::layers
