// The layer type "max_pool2d".

#include "libcore/nn/layers/parts/pool2d.h"

namespace dl::nn::layers {

const LayerType& max_pool2d() {
  static const LayerType type = pooling<Pooling::kMax>(
      2, "max_pool2d",
      "The largest number of each window, channel by channel.\n"
      "Padding is never the largest.",
      {"maxpooling2d", "maxpooling", "maxpool"});
  return type;
}

}  // namespace dl::nn::layers
