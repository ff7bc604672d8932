// The layer type "average_pool1d".

#include "libcore/nn/layers/parts/pool1d.h"

namespace dl::nn::layers {

const LayerType& average_pool1d() {
  static const LayerType type = pooling<Pooling::kAverage>(
      "average_pool1d",
      "The mean of the unmasked steps in each window of a series, feature by "
      "feature; if a\n"
      "window has none, the result is 0.\n"
      "If the number of steps stays the same, the output has the same mask; "
      "otherwise a step\n"
      "of the output counts if its window has a step that counts.",
      {"averagepooling1d", "avgpool1d"});
  return type;
}

}  // namespace dl::nn::layers
