// The layer type "average_pool3d".

#include "libcore/nn/layers/parts/pool2d.h"

namespace dl::nn::layers {

const LayerType& average_pool3d() {
  static const LayerType type = pooling<Pooling::kAverage>(
      3, "average_pool3d",
      "The mean of each window of a volume, channel by channel.",
      {"averagepooling3d", "avgpool3d"});
  return type;
}

}  // namespace dl::nn::layers
