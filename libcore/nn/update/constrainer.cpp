// Enforcement of constraints in host memory.

#include "libcore/nn/update/constrainer.h"

#include <algorithm>
#include <cstdint>

#include "libcore/device/open.h"
#include "libcore/nn/update/constraints.h"

namespace dl::nn {

struct Constrainer::State {
  Constraints constraints;
  // Whatever the replicas compute on: bits may not depend on that.
  std::unique_ptr<device::Device> device;
};

Constrainer::Constrainer(const NetworkConfig& network) {
  const Layout layout = layout_of(network);
  for (const Segment& segment : layout.statistics)
    if (network.layers[segment.layer].training.frozen)
      frozen_.push_back(segment);
  Constraints constraints(network, layout);
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

void Constrainer::keep_frozen(std::span<float> statistics,
                              std::span<const float> before) const {
  for (const Segment& segment : frozen_)
    std::copy_n(before.begin() + segment.offset, segment.elements(),
                statistics.begin() + segment.offset);
}

}  // namespace dl::nn
