// The layer type "alpha_dropout".

#include "libcore/nn/layers/parts/noise.h"

namespace dl::nn::layers {

const LayerType& alpha_dropout() {
  static const LayerType type{
      .name = "alpha_dropout",
      .words =
          "Dropout for *selu*: dropped numbers become -1.758, and all numbers "
          "are scaled and\n"
          "shifted so that mean 0 and variance 1 are preserved (Klambauer et "
          "al. 2017).",
      .other_names = {"selfnormalizingdropout"},
      .keys = {rate("The share of inputs that is dropped.")},
      .disturbs = true,
      .infer = infer_noise<false>,
      .make = make<AlphaDropout>};
  return type;
}

}  // namespace dl::nn::layers
