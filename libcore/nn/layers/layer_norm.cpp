// The layer type "layer_norm".

#include "libcore/nn/layers/parts/group_norm.h"

namespace dl::nn::layers {

const LayerType& layer_norm() {
  static const LayerType type{
      .name = "layer_norm",
      .words =
          "y = gamma (x - mean) / sqrt(variance + epsilon) + beta.\n"
          "Mean and variance (of the population) are those of the last "
          "dimension, for each\n"
          "example, step and pixel by itself, in training and otherwise.\n"
          "gamma starts at 1, beta at 0, one for each index of the last "
          "dimension.",
      .other_names = {"layernormalization"},
      .keys = {epsilon()},
      .trains = Trains::kOthers,
      .infer = infer_layer_norm,
      .make = make<LayerNorm>};
  return type;
}

}  // namespace dl::nn::layers
