// The layer type "l2_distance".

#include "libcore/nn/layers/parts/dot.h"

namespace dl::nn::layers {

const LayerType& l2_distance() {
  static const LayerType type{
      .name = "l2_distance",
      .words =
          "y = sqrt(sum of (a - b)^2 + epsilon) of two inputs of one shape, "
          "along their\n"
          "last dimension, which becomes 1.",
      .other_names = {"l2vertex", "pairwisedistance"},
      .keys = {key::number("epsilon", "1e-8", "Added before the root.",
                           kOver0)},
      .inputs = {2, 2},
      .infer = infer_distance,
      .make = make<L2Distance>};
  return type;
}

}  // namespace dl::nn::layers
