// The layer type "pnorm_pool2d".

#include "libcore/nn/layers/parts/pool2d.h"

namespace dl::nn::layers {

const LayerType& pnorm_pool2d() {
  static const LayerType type = pooling<Pooling::kPNorm>(
      2, "pnorm_pool2d",
      "(sum of |x|^p)^(1/p) of each window, channel by channel.",
      {"lppool2d", "pnormpooling"});
  return type;
}

}  // namespace dl::nn::layers
