// The layer type "l2_normalize".

#include "libcore/nn/layers/parts/dot.h"

namespace dl::nn::layers {

const LayerType& l2_normalize() {
  static const LayerType type{
      .name = "l2_normalize",
      .words = "y = x / sqrt(sum of x^2 + epsilon), along the last dimension.",
      .other_names = {"l2normalizevertex", "unitnormalization", "normalize"},
      .keys = {key::number("epsilon", "1e-8", "Added before the root.",
                           kOver0)},
      .infer = infer_normalize,
      .make = make<L2Normalize>};
  return type;
}

}  // namespace dl::nn::layers
