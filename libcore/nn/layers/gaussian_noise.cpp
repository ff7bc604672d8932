// The layer type "gaussian_noise".

#include "libcore/nn/layers/parts/noise.h"

namespace dl::nn::layers {

const LayerType& gaussian_noise() {
  static const LayerType type{
      .name = "gaussian_noise",
      .words = "In training, adds a random number of mean 0 to each number.",
      .keys = {key::number("deviation", "required",
                           "The standard deviation of the noise.", kAtLeast0)},
      .disturbs = true,
      .infer = infer_noise<true>,
      .make = make<GaussianNoise>};
  return type;
}

}  // namespace dl::nn::layers
