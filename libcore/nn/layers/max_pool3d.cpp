// The layer type "max_pool3d".

#include "libcore/nn/layers/parts/pool2d.h"

namespace dl::nn::layers {

const LayerType& max_pool3d() {
  static const LayerType type = pooling<Pooling::kMax>(
      3, "max_pool3d",
      "The largest number of each window of a volume, channel by channel.\n"
      "Padding is never the largest.",
      {"maxpooling3d"});
  return type;
}

}  // namespace dl::nn::layers
