#include "libcore/cluster/constrainer.h"

#include <cstdint>

#include "libcore/device/open.h"
#include "libcore/nn/constraints.h"

namespace dl::cluster {

struct Constrainer::State {
  nn::Constraints constraints;
  // Whatever the replicas compute on: bits may not depend on that.
  std::unique_ptr<tensor::Device> device;
};

Constrainer::Constrainer(const nn::NetworkConfig& network) {
  nn::Constraints constraints(network, nn::layout_of(network));
  if (constraints.empty()) return;
  state_ = std::make_shared<State>(
      State{std::move(constraints), device::open_device("cpu")});
}

void Constrainer::operator()(std::span<float> parameters) const {
  if (!state_) return;
  const tensor::View view{reinterpret_cast<std::byte*>(parameters.data()),
                          tensor::DType::kF32,
                          {static_cast<std::int64_t>(parameters.size())}};
  state_->constraints.apply(*state_->device, view);
}

}  // namespace dl::cluster
