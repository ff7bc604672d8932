#include "libcore/cluster/worker/replica.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/base/heap.h"
#include "libcore/base/number_format.h"
#include "libcore/base/philox.h"
#include "libcore/device/open.h"
#include "libcore/nn/data/baseline_loss.h"

namespace dl::cluster {

Replica::Replica(const nn::NetworkConfig& config,
                 const data::Normalizers& normalizers, std::int64_t batch,
                 const std::string& device, int threads, nn::Start start,
                 device::Precision precision) {
  auto lanes = device::open_lanes(device, threads, precision);
  device_ = lanes.front().get();
  try {
    network_ = std::make_unique<nn::Network>(config, normalizers, batch,
                                             std::move(lanes), true,
                                             std::span<const float>{}, start);
    if (start == nn::Start::kLater) network_->reset_updater_state();
    loss_of_chance_ = nn::loss_of_chance(config, normalizers);
  } catch (const std::bad_alloc&) {
    throw Error{Code::kUnavailable,
                "not enough memory for this network with mini-batches of " +
                    std::to_string(batch) + " on " + std::to_string(threads) +
                    " threads; try fewer --threads"};
  }
}

std::vector<std::size_t> Replica::tensors() const {
  std::vector<std::size_t> elements;
  for (const nn::Segment& segment : network_->parameter_segments())
    elements.push_back(static_cast<std::size_t>(segment.elements()));
  return elements;
}

std::vector<double> Replica::learning_rates(const nn::Position& at) const {
  std::vector<double> rates;
  auto range = network_->state_ranges().begin();
  for (const nn::Segment& segment : network_->parameter_segments()) {
    while (segment.offset >= range->end) ++range;
    rates.push_back(range->updater.learning_rate.at(at.iteration, at.epoch));
  }
  return rates;
}

std::vector<float> Replica::get(tensor::View from) {
  if (from.elements() == 0 || from.empty()) return {};
  if (const auto here = device_->on_host(from); !here.empty())
    return {here.begin(), here.end()};
  device_->download(scratch_, from);
  const auto values = scratch_.as<float>();
  return {values.begin(), values.end()};
}

void Replica::set(tensor::View to, std::span<const float> values,
                  const char* what) {
  const std::size_t wanted =
      to.empty() ? 0 : static_cast<std::size_t>(to.elements());
  if (values.size() != wanted)
    throw Error{Code::kProtocol,
                "the master sent " + std::to_string(values.size()) + " " +
                    what + ", the network has " + std::to_string(wanted)};
  if (values.empty()) return;
  if (const auto here = device_->on_host(to); !here.empty()) {
    std::ranges::copy(values, here.begin());
    return;
  }
  scratch_.resize(tensor::DType::kF32, to.shape);
  std::memcpy(scratch_.bytes().data(), values.data(), values.size_bytes());
  device_->upload(to, scratch_);
  device_->finish();
}

void Replica::set_parameters(std::span<const float> values) {
  set(network_->parameters(), values, "parameters");
  parameters_lost_ = false;
}

void Replica::set_statistics(std::span<const float> values) {
  set(network_->statistics(), values, "running statistics");
}

void Replica::set_updater_state(std::span<const float> values) {
  if (values.empty())
    network_->reset_updater_state();
  else
    set(network_->updater_state(), values, "values of updater state");
}

std::vector<float> Replica::parameters() {
  require(!parameters_lost_, "parameters that a step has lost");
  return get(network_->parameters());
}

std::span<const float> Replica::update() {
  if (const auto here = device_->on_host(network_->update()); !here.empty())
    return here;
  device_->download(update_, network_->update());
  return update_.as<float>();
}

std::span<float> Replica::parameters_in_place() {
  require(!parameters_lost_, "parameters that a step has lost");
  return device_->on_host(network_->parameters());
}

std::span<float> Replica::room() {
  return device_->on_host(network_->update());
}

void Replica::release_room(std::size_t from) {
  give_back_pages(std::as_writable_bytes(room()), from * sizeof(float));
}

device::Device* Replica::resident_device() {
  const tensor::View parameters = network_->parameters();
  const bool apart = parameters.elements() > 0 &&
                     device_->real() == tensor::DType::kF32 &&
                     device_->on_host(parameters).empty();
  return apart ? device_ : nullptr;
}

Replica::Step Replica::compute(const nn::Batch& batch, const nn::Position& at,
                               const UpdateSink& sink) {
  return step(batch, at, device::UpdateTo::kGradient, sink);
}

Replica::Step Replica::train(const nn::Batch& batch, const nn::Position& at) {
  return step(batch, at, device::UpdateTo::kParameters, {});
}

std::span<const float> Replica::update_on_host() {
  const auto all = device_->on_host(network_->update());
  require(!all.empty(), "an update that is not in host memory");
  return all;
}

Replica::Step Replica::step(const nn::Batch& batch, const nn::Position& at,
                            device::UpdateTo to, const UpdateSink& sink) {
  require(!parameters_lost_, "a step from parameters that another has lost");
  const tensor::View statistics = network_->statistics();
  const bool keep = !statistics.empty() && statistics.elements() > 0;
  if (keep && !kept_statistics_)
    kept_statistics_ = device_->allocate(statistics.shape);
  if (keep) device_->copy(kept_statistics_->view(), statistics);
  Step step;
  failpoint("worker.compute");
  if (network_->segments() == 1)
    step = this->step(batch, 0, at, to, sink);
  else if (to == device::UpdateTo::kParameters)
    step = each_segment(batch, at);
  else
    step = compute_segments(batch, at, sink);
  if (step.fault.empty() || !keep) return step;
  device_->copy(statistics, kept_statistics_->view());
  return step;
}

Replica::Step Replica::gradient(const nn::Batch& batch, const nn::Position& at,
                                const GradientSink& sink) {
  require(!parameters_lost_, "a step from parameters that another has lost");
  require(network_->segments() == 1, "the gradient of several segments");
  failpoint("worker.compute");
  const auto here = device_->on_host(network_->update());
  nn::GradientSink show;
  if (!here.empty())
    show = [&](double loss, std::int64_t element) {
      const auto from = static_cast<std::size_t>(element);
      if (fault_of(loss, true).empty()) sink(loss, from, here.subspan(from));
    };
  Step step;
  step.loss = network_->compute_gradient(batch, at, 0, show);
  if (failpoint("worker.nan"))
    step.loss = std::numeric_limits<double>::quiet_NaN();
  if (failpoint("worker.lie", 1)) step.loss += 1.5;
  step.fault = fault_of(step.loss, network_->gradient_is_finite());
  if (step.fault.empty()) sink(step.loss, 0, update());
  return step;
}

double Replica::most_loss() const {
  return loss_of_chance_ ? kMostLoss * *loss_of_chance_
                         : std::numeric_limits<double>::max();
}

// "": none.
std::string Replica::fault_of(double loss, bool gradient_finite) const {
  if (!std::isfinite(loss)) return "the loss is not finite";
  if (loss > most_loss())
    return "the loss of " + format("%.2g", loss) +
           " is out of all proportion: a constant prediction has " +
           format("%.3g", *loss_of_chance_);
  return gradient_finite ? "" : "the gradient is not finite";
}

Replica::Step Replica::step(const nn::Batch& batch, std::int64_t segment,
                            const nn::Position& at, device::UpdateTo to,
                            const UpdateSink& sink) {
  const bool apply = to == device::UpdateTo::kParameters;
  const double most = failpoint("worker.nan") ? -1 : most_loss();
  std::span<const float> all;
  nn::UpdateSink show;
  if (sink) {
    all = update_on_host();
    // Two references: more would be allocated.
    show = [&sink, &all](std::int64_t begin, tensor::View v) {
      const auto place = static_cast<std::size_t>(begin);
      sink(place, all.subspan(place, static_cast<std::size_t>(v.elements())));
    };
  }
  const nn::Network::StepResult found =
      network_->step(batch, at, segment, to, show, most);
  Step step;
  step.loss = most < 0 ? std::numeric_limits<double>::quiet_NaN() : found.loss;
  if (failpoint("worker.lie", 1)) step.loss += 1.5;
  step.fault = fault_of(step.loss, found.gradient_finite);
  if (!step.fault.empty() || found.update_finite) return step;
  step.fault = "the update is not finite";
  network_->reset_updater_state();
  step.updater_afresh = true;
  parameters_lost_ = apply;
  return step;
}

// A mini-batch counts as many iterations as it has segments.
Replica::Step Replica::each_segment(const nn::Batch& batch,
                                    const nn::Position& at) {
  const std::int64_t count = network_->segments();
  Step all;
  for (std::int64_t s = 0; s < count && all.fault.empty(); ++s) {
    nn::Position here = at;
    here.iteration = at.iteration * count + s;
    here.updater_reset_at = at.updater_reset_at * count;
    if (s > 0) here.batch = mix({at.batch, static_cast<std::uint64_t>(s)});
    const Step one = step(batch, s, here, device::UpdateTo::kParameters, {});
    all.loss += one.loss;
    all.fault = one.fault;
    all.updater_afresh = one.updater_afresh;
    if (one.fault.empty() || s == 0) continue;
    network_->reset_updater_state();
    all.updater_afresh = true;
    parameters_lost_ = true;
  }
  return all;
}

Replica::Step Replica::compute_segments(const nn::Batch& batch,
                                        const nn::Position& at,
                                        const UpdateSink& sink) {
  const tensor::View parameters = network_->parameters();
  if (!before_) before_ = device_->allocate(parameters.shape);
  const tensor::View before = before_->view(), update = network_->update();
  device_->copy(before, parameters);
  Step step = each_segment(batch, at);
  if (step.fault.empty()) {
    device_->copy(update, before);
    device_->add(update, -1, parameters);
  }
  device_->copy(parameters, before);
  parameters_lost_ = false;
  if (sink && step.fault.empty()) show(sink);
  return step;
}

void Replica::show(const UpdateSink& sink) {
  const auto all = update_on_host();
  std::size_t at = 0;
  for (const std::size_t elements : tensors()) {
    sink(at, all.subspan(at, elements));
    at += elements;
  }
}

}  // namespace dl::cluster
