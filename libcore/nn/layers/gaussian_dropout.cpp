// The layer type "gaussian_dropout".

#include "libcore/nn/layers/parts/noise.h"

namespace dl::nn::layers {

const LayerType& gaussian_dropout() {
  static const LayerType type{
      .name = "gaussian_dropout",
      .words =
          "In training, multiplies each number by one of mean 1 and variance "
          "rate / (1 - rate).",
      .keys = {rate(
          "The noise is as large as that of dropout with this rate.")},
      .disturbs = true,
      .infer = infer_noise<false>,
      .make = make<GaussianDropout>};
  return type;
}

}  // namespace dl::nn::layers
