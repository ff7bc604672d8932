// Gives learning rates a warm-up where the network has none.

#include "libcore/nn/update/warmup.h"

#include <algorithm>

namespace dl::nn {

namespace {

// adadelta's first steps are as small as its epsilon.
bool starts_blindly(const UpdaterConfig& updater) {
  using device::Updater;
  switch (updater.kind) {
    case Updater::kNone:
    case Updater::kSgd:
    case Updater::kNesterov:
    case Updater::kMomentum:
    case Updater::kAdaDelta:
      return false;
    default:
      return updater.learning_rate.warmup == 0;
  }
}

}  // namespace

bool wants_warmup(const NetworkConfig& network) {
  return std::ranges::any_of(network.layers, [](const LayerConfig& layer) {
    const Training& training = layer.training;
    return !training.frozen && (starts_blindly(training.updater) ||
                                starts_blindly(training.bias_updater));
  });
}

NetworkConfig with_warmup(NetworkConfig network, std::int64_t steps) {
  if (steps <= 0) return network;
  for (LayerConfig& layer : network.layers)
    for (UpdaterConfig* updater :
         {&layer.training.updater, &layer.training.bias_updater})
      if (starts_blindly(*updater)) updater->learning_rate.warmup = steps;
  return network;
}

}  // namespace dl::nn
