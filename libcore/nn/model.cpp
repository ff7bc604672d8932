// Models in and out of networks.

#include "libcore/nn/model.h"

#include <algorithm>

namespace dl::nn {
namespace {

void upload(Network& network, tensor::View to,
            const std::vector<float>& values) {
  require(to.elements() == static_cast<std::int64_t>(values.size()),
          "a model does not fit the network");
  tensor::Tensor host(tensor::DType::kF32, to.shape);
  std::copy(values.begin(), values.end(), host.as<float>().begin());
  network.device().upload(to, host);
}

std::vector<float> download(Network& network, tensor::View from) {
  tensor::Tensor host(tensor::DType::kF32, from.shape);
  network.device().download(host, from);
  network.device().finish();
  return {host.as<float>().begin(), host.as<float>().end()};
}

}  // namespace

void put_into(Network& network, const Model& model) {
  upload(network, network.parameters(), model.parameters);
  if (!model.statistics.empty())
    upload(network, network.statistics(), model.statistics);
  if (!network.updater_state().empty()) {
    if (model.updater_state.empty())
      network.reset_updater_state();
    else
      upload(network, network.updater_state(), model.updater_state);
  }
  network.freeze();
  network.device().finish();
}

void take_from(Network& network, Model& model) {
  model.parameters = download(network, network.parameters());
  model.statistics.clear();
  if (!network.statistics_segments().empty())
    model.statistics = download(network, network.statistics());
  model.updater_state.clear();
  if (!network.updater_state().empty())
    model.updater_state = download(network, network.updater_state());
}

}  // namespace dl::nn
