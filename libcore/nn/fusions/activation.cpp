// Fusion of an activation into the layer before it.

#include "libcore/nn/fusions/fusions.h"

namespace dl::nn::fusions {

bool activation(const NetworkConfig& config, const Layout& layout,
                const Pair& pair) {
  PlannedLayer& first = *pair.first;
  const LayerConfig& own = config.layers[first.layer];
  const LayerConfig& next = config.layers[pair.second->layer];
  // One that pools at once has other sums behind it.
  if (next.type->name != "activation" || first.make != own.type->make ||
      !own.type->activates || first.settings.at("activation") != "identity")
    return false;
  first.settings.set("activation", pair.second->settings.at("activation"));
  first.buffers =
      own.type->infer(first.settings, layout.layers[first.layer].inputs)
          .buffers;
  return true;
}

}  // namespace dl::nn::fusions
