// Fusion of batch normalization and relu in training.

#include "libcore/nn/fusions/fusions.h"
#include "libcore/nn/layers/batch_norm.h"

namespace dl::nn::fusions {

bool batch_norm_and_relu(const NetworkConfig& config, const Layout&,
                         const Pair& pair) {
  const LayerType &first = *config.layers[pair.first->layer].type,
                  &second = *config.layers[pair.second->layer].type;
  if (first.name != "batch_norm" || second.name != "activation" ||
      pair.first->make != first.make ||
      pair.second->settings.activation("activation").kind !=
          device::Activation::kRelu)
    return false;
  pair.first->make = layers::make_batch_norm_relu;
  return true;
}

}  // namespace dl::nn::fusions
