// Folding of batch normalization into the layer before it, outside training.

#include "libcore/nn/fusions/fusions.h"

namespace dl::nn::fusions {

bool batch_normalisation(const NetworkConfig& config, const Layout&,
                         const Pair& pair) {
  const LayerType &first = *config.layers[pair.first->layer].type,
                  &second = *config.layers[pair.second->layer].type;
  if (second.name != "batch_norm" || pair.first->absorbs ||
      pair.first->make != first.make || first.absorbs == nullptr ||
      !first.absorbs(pair.first->settings))
    return false;
  pair.first->absorbs = pair.second->layer;
  return true;
}

}  // namespace dl::nn::fusions
