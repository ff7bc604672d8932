// The layer type "group_norm".

#include "libcore/nn/layers/parts/group_norm.h"

namespace dl::nn::layers {

const LayerType& group_norm() {
  static const LayerType type{
      .name = "group_norm",
      .words =
          "Like *layer_norm*, with mean and variance over all pixels of an "
          "example for each of\n"
          "*groups* groups of adjacent channels.\n"
          "With as many groups as channels it is instance normalization.\n"
          "In a sequence, each step is normalized separately.",
      .other_names = {"groupnormalization", "instancenorm", "instancenorm2d",
                      "instancenormalization"},
      .keys = {key::integer("groups", "1",
                            "Groups of channels, which they divide.", kSmall),
               epsilon()},
      .trains = Trains::kOthers,
      .infer = infer_group_norm,
      .make = make<GroupNorm>};
  return type;
}

}  // namespace dl::nn::layers
