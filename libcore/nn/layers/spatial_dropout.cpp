// The layer type "spatial_dropout".

#include "libcore/nn/layers/parts/noise.h"

namespace dl::nn::layers {

const LayerType& spatial_dropout() {
  static const LayerType type{
      .name = "spatial_dropout",
      .words =
          "Like *dropout*, for whole channels: all numbers of an example at an "
          "index of the last\n"
          "dimension are dropped or kept together.",
      .other_names = {"spatialdropout1d", "spatialdropout2d", "dropout2d",
                      "spatialdropout3d"},
      .keys = {rate("The share of channels that is dropped.")},
      .disturbs = true,
      .infer = infer_noise<false>,
      .make = make<SharedDropout<false>>};
  return type;
}

}  // namespace dl::nn::layers
