// Fusion of convolution and max pooling.

#include "libcore/nn/fusions/fusions.h"
#include "libcore/nn/layers/conv2d.h"

namespace dl::nn::fusions {

bool convolution_and_pooling(const NetworkConfig& config, const Layout& layout,
                             const Pair& pair) {
  const LayerConfig &first = config.layers[pair.first->layer],
                    &second = config.layers[pair.second->layer];
  if (!layers::pools_at_once(first, second,
                             layout.form(pair.first->output).shape))
    return false;
  pair.first->make = layers::make_conv2d_max_pool2d;
  return true;
}

}  // namespace dl::nn::fusions
