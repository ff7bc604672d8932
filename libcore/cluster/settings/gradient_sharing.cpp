// Checks of a network's updaters for sharing and sync.

#include "libcore/cluster/settings/gradient_sharing.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/nn/layout.h"

namespace dl::cluster {

namespace {

// Calls visit(updater, its layer) for each tensor of the parameters.
template <typename Visit>
void for_each_updater(const nn::NetworkConfig& network, const Visit& visit) {
  for (const nn::Segment& segment : nn::layout_of(network).parameters) {
    const nn::LayerConfig& layer = network.layers[segment.layer];
    if (layer.training.frozen) continue;
    visit(segment.role == nn::Role::kBias ? layer.training.bias_updater
                                          : layer.training.updater,
          layer);
  }
}

// Momentum; adam and its kin have it as beta1.
double momentum_of(const nn::UpdaterConfig& updater) {
  switch (updater.kind) {
    case device::Updater::kNone:
    case device::Updater::kSgd:
    case device::Updater::kAdaGrad:
    case device::Updater::kRmsProp:
    case device::Updater::kAdaDelta:
      return 0;
    case device::Updater::kNesterov:
    case device::Updater::kMomentum:
      return updater.momentum.largest();
    default:
      return updater.beta1;
  }
}

}  // namespace

nn::UpdaterConfig shared_updater(const nn::NetworkConfig& network) {
  if (network.tbptt_update)
    throw Error{Code::kConfig,
                "--share gradient: \"tbptt_update\" wants updates where they "
                "are computed; use --share update"};
  const nn::UpdaterConfig* common = nullptr;
  const auto check = [&](const nn::UpdaterConfig& updater,
                         const nn::LayerConfig& layer) {
    const auto refuse = [&](const std::string& why) {
      throw Error{Code::kConfig, "--share gradient: the updater of layer '" +
                                     layer.name + "' " + why +
                                     "; use --share update"};
    };
    if (updater.kind != device::Updater::kSgd &&
        updater.kind != device::Updater::kNesterov)
      refuse("is neither sgd nor nesterov");
    if (updater.kind == device::Updater::kNesterov &&
        updater.momentum.kind != nn::Schedule::Kind::kFixed)
      refuse("has a momentum that changes");
    const nn::Regularization& regularization = layer.training.regularization;
    if (updater.kind == device::Updater::kNesterov &&
        (regularization.weight_decay > 0 ||
         regularization.weight_decay_bias > 0))
      refuse("has a momentum, which its weight_decay may not go through");
    if (common && !(updater == *common))
      refuse("differs from that of the layers before");
    common = &updater;
  };
  for_each_updater(network, check);
  require(common != nullptr, "a network without parameters");
  nn::UpdaterConfig updater = *common;
  if (updater.kind == device::Updater::kSgd) updater.momentum = {};
  return updater;
}

void check_sync(const nn::NetworkConfig& network) {
  if (network.tbptt_update)
    throw Error{
        Code::kConfig,
        "--mode sync: \"tbptt_update\" wants an update after each "
        "segment, where it is computed; use another --mode, or leave it "
        "out"};
}

double largest_momentum(const nn::NetworkConfig& network) {
  double largest = 0;
  for_each_updater(
      network, [&](const nn::UpdaterConfig& updater, const nn::LayerConfig&) {
        largest = std::max(largest, momentum_of(updater));
      });
  return largest;
}

nn::NetworkConfig without_updaters(nn::NetworkConfig network) {
  nn::UpdaterConfig plain;
  plain.kind = device::Updater::kSgd;
  plain.learning_rate.initial = 1;
  for (nn::LayerConfig& layer : network.layers)
    layer.training.updater = layer.training.bias_updater = plain;
  return network;
}

}  // namespace dl::cluster
