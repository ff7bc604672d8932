// Models in and out of networks.

#include "libcore/nn/model/model.h"

#include <algorithm>

namespace dl::nn {
namespace {

// In pieces: a copy of the whole would double the memory.
void upload(Network& network, tensor::View to, std::span<const float> values) {
  require(to.elements() == static_cast<std::int64_t>(values.size()),
          "a model does not fit the network");
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (std::size_t at = 0; at < values.size(); at += kPiece) {
    const auto piece = values.subspan(at, std::min(kPiece, values.size() - at));
    tensor::Tensor host(tensor::DType::kF32,
                        {static_cast<std::int64_t>(piece.size())});
    std::ranges::copy(piece, host.as<float>().begin());
    network.device().upload(to.at(static_cast<std::int64_t>(at), host.shape()),
                            host);
    network.device().finish();
  }
}

std::vector<float> download(Network& network, tensor::View from) {
  tensor::Tensor host(tensor::DType::kF32, from.shape);
  network.device().download(host, from);
  network.device().finish();
  return {host.as<float>().begin(), host.as<float>().end()};
}

}  // namespace

void put_into(Network& network, const Model& model) {
  const std::span<const float> weights = model.weights();
  const tensor::View own = network.parameters();
  const bool adopted = own.as<const float>() == weights.data();
  if (!adopted) upload(network, own, weights);
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
