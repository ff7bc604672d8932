#include "libcore/cluster/worker/shared_parameters.h"

#include <algorithm>
#include <utility>

#include "libcore/cluster/worker/learner.h"

namespace dl::cluster {

device::Device* keeper_of(Replica& replica, const SharingSettings& settings,
                          double momentum) {
  using Kind = exchange::StalenessRule::Kind;
  nn::Network& network = replica.network();
  const bool plain = settings.fetch == 1 && momentum == 0 &&
                     settings.staleness_rule.kind != Kind::kFasgd &&
                     std::cmp_less_equal(network.parameters().elements(),
                                         exchange::kMostOnDevice) &&
                     nn::Constrainer(network.config()).none();
  return plain ? replica.resident_device() : nullptr;
}

// --- On the host ------------------------------------------------------------

HostParameters::HostParameters(Replica& replica,
                               const SharingSettings& settings,
                               ParameterHistory* history)
    : replica_(replica),
      constrain_(replica.network().config()),
      history_(history),
      parameters_(replica.parameters_in_place()) {
  if (parameters_.empty() || settings.fetch > 1) keep_apart();
  if (settings.staleness_rule.kind == exchange::StalenessRule::Kind::kFasgd)
    fasgd_.emplace(parameters_.size());
}

void HostParameters::keep_apart() {
  apart_.resize(
      static_cast<std::size_t>(replica_.network().parameters().elements()));
  std::ranges::copy(parameters_, apart_.begin());
  parameters_ = apart_;
}

void HostParameters::take(const State& state) {
  std::ranges::copy(state.parameters, parameters_.begin());
  changed_ = true;
  behind_ = false;
  sequence_ = state.version;
  if (!fasgd_) return;
  fasgd_.emplace(parameters_.size());
  if (!state.fasgd.empty()) fasgd_->restore(state.fasgd);
}

void HostParameters::apply(const Apply& apply) {
  sequence_ = apply.sequence;
  if (history_) {
    behind_ = changed_ = true;
  } else if (!apply.payload.empty()) {
    exchange::apply_update(apply.payload, -apply.scale, fasgd_, parameters_);
    constrain_(parameters_);
    changed_ = true;
  }
}

void HostParameters::look_up() {
  if (!std::exchange(behind_, false)) return;
  std::ranges::copy(history_->at(sequence_), parameters_.begin());
}

std::span<const float> HostParameters::values() {
  look_up();
  return parameters_;
}

void HostParameters::settle() {
  look_up();
  if (!changed_ || apart_.empty()) return;
  replica_.set_parameters(parameters_);
  changed_ = false;
}

void HostParameters::step_ahead(UpdateCoder& coder, double own, double others,
                                std::int64_t workers) {
  look_up();
  if (apart_.empty()) keep_apart();
  std::span<float> to = replica_.parameters_in_place();
  if (to.empty()) {
    working_.resize(apart_.size());
    to = working_;
  }
  coder.step_ahead(parameters_, own, others, workers, to);
  constrain_(to);
  if (!working_.empty()) replica_.set_parameters(to);
  changed_ = true;
}

void HostParameters::step_alone(float rate, std::span<const float> update) {
  for (std::size_t i = 0; i < working_.size(); ++i)
    working_[i] -= rate * update[i];
  constrain_(working_);
  replica_.set_parameters(working_);
  changed_ = true;
}

// --- On a device ------------------------------------------------------------

DeviceParameters::DeviceParameters(Replica& replica, device::Device& device)
    : replica_(replica), device_(device), quanta_(device) {}

void DeviceParameters::take(const State& state) {
  replica_.set_parameters(state.parameters);
  if (apart_) device_.copy(apart_->view(), network());
  changed_ = false;
}

void DeviceParameters::apply(const Apply& apply) {
  if (apply.payload.empty()) return;
  quanta_.decode(apply.payload, -apply.scale, view());
  changed_ = true;
}

std::span<const float> DeviceParameters::values() {
  device_.download(fetched_, view());
  return std::as_const(fetched_).as<float>();
}

void DeviceParameters::settle() {
  if (!changed_ || !apart_) return;
  device_.copy(network(), apart_->view());
  changed_ = false;
}

void DeviceParameters::step_ahead(UpdateCoder& coder, double own, double others,
                                  std::int64_t workers) {
  if (!apart_) {
    apart_ = device_.allocate(network().shape);
    device_.copy(apart_->view(), network());
  }
  coder.step_ahead(apart_->view(), own, others, workers, network());
  changed_ = true;
}

}  // namespace dl::cluster
