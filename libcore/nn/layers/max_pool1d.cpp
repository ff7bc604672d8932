// The layer type "max_pool1d".

#include "libcore/nn/layers/parts/pool1d.h"

namespace dl::nn::layers {

const LayerType& max_pool1d() {
  static const LayerType type = pooling<Pooling::kMax>(
      "max_pool1d",
      "The largest number of each window of a series, feature by feature.\n"
      "Padding and masked steps are never the largest; if a window has no "
      "other step, the\n"
      "result is 0.\n"
      "If the number of steps stays the same, the output has the same mask; "
      "otherwise a step\n"
      "of the output counts if its window has a step that counts.",
      {"maxpooling1d"});
  return type;
}

}  // namespace dl::nn::layers
