// Updater steps over vectors in host memory.

#include "libcore/nn/update/host_updater.h"

#include <utility>

#include "libcore/base/error.h"
#include "libcore/device/open.h"
#include "libcore/nn/lane/lane_team.h"
#include "libcore/nn/update/constraints.h"
#include "libcore/nn/update/update_plan.h"

namespace dl::nn {
namespace {

tensor::View view_of(std::span<float> values) {
  return {reinterpret_cast<std::byte*>(values.data()),
          tensor::DType::kF32,
          {static_cast<std::int64_t>(values.size())}};
}

// There is one gradient alone.
LaneGradients no_more(const Layout& layout) {
  return {.offsets =
              std::vector(layout.parameters.size(), LaneGradients::kNone)};
}

}  // namespace

struct HostUpdater::State {
  State(const NetworkConfig& network, int threads)
      : config(network),
        layout(layout_of(config)),
        devices(device::open_lanes("cpu", threads)),
        memory(*devices.front()),
        plan(config, layout, no_more(layout), threads, memory),
        constraints(config, layout),
        team(threads) {}

  NetworkConfig config;
  Layout layout;
  std::vector<std::unique_ptr<device::Device>> devices;
  Memory memory;
  UpdatePlan plan;
  Constraints constraints;
  LaneTeam team;
};

HostUpdater::HostUpdater(const NetworkConfig& network, int threads)
    : state_(std::make_unique<State>(network, threads)) {}

HostUpdater::~HostUpdater() = default;

std::size_t HostUpdater::state_elements() const {
  return static_cast<std::size_t>(state_->layout.state_count);
}

bool HostUpdater::step(const Position& at, std::span<float> gradient,
                       std::span<float> parameters, std::span<float> state) {
  State& s = *state_;
  require(std::cmp_equal(parameters.size(), s.layout.parameter_count) &&
              gradient.size() == parameters.size() &&
              std::cmp_equal(state.size(), s.layout.state_count),
          "vectors of another network");
  const auto on_all = [&](const auto& task) {
    s.team.run([&](int lane) {
      task(lane, *s.devices[static_cast<std::size_t>(lane)]);
    });
  };
  const tensor::View sum = view_of(gradient), weights = view_of(parameters);
  const bool has_norms = s.plan.has_norms();
  if (has_norms) {
    on_all([&](int lane, device::Device& device) {
      s.plan.gather(lane, device, std::span(&sum, 1), 0,
                    s.layout.parameter_count);
    });
    s.plan.judge(*s.devices.front(), {}, 0);
  }
  on_all([&](int lane, device::Device& device) {
    s.plan.step(lane, device, at, device::UpdateTo::kParameters, has_norms, {},
                sum, weights, view_of(state));
  });
  s.plan.judge_written(*s.devices.front());
  if (!s.plan.found(*s.devices.front()).update_finite) return false;
  if (!s.constraints.empty())
    on_all([&](int lane, device::Device& device) {
      s.constraints.apply(device, weights, lane, s.team.size());
    });
  return true;
}

}  // namespace dl::nn
