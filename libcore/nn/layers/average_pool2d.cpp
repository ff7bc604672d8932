// The layer type "average_pool2d".

#include "libcore/nn/layers/parts/pool2d.h"

namespace dl::nn::layers {

const LayerType& average_pool2d() {
  static const LayerType type = pooling<Pooling::kAverage>(
      2, "average_pool2d", "The mean of each window, channel by channel.",
      {"averagepooling2d", "avgpool2d"});
  return type;
}

}  // namespace dl::nn::layers
