// A network as its caller sees it: the flat vectors and what runs on the team.

#include "libcore/nn/network.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/nn/batch.h"
#include "libcore/nn/constraints.h"
#include "libcore/nn/initialise.h"
#include "libcore/nn/lane.h"
#include "libcore/nn/plan.h"
#include "libcore/nn/targets.h"
#include "libcore/nn/update_plan.h"

namespace dl::nn {

using tensor::Tensor;
using tensor::View;

std::int64_t Batch::examples() const { return inputs.at(0).values->shape()[0]; }

// Tasks are made once and read the arguments of the call in progress from
// here: a std::function that captured them would be allocated each time.
struct Network::State {
  State(NetworkConfig network, const data::Normalizers& scaling,
        std::int64_t largest, std::vector<std::unique_ptr<tensor::Device>> all,
        bool with_gradients, std::span<const float> given);

  void gradient_task(int lane);
  void run_predict(std::span<const Part> given, std::span<Prediction> made,
                   std::span<Tensor> carried);
  bool update(const Position& position, tensor::UpdateTo target,
              const UpdateSink& shown_to);
  tensor::Device& device(int lane) {
    return *devices[static_cast<std::size_t>(lane)];
  }

  std::vector<std::unique_ptr<tensor::Device>> devices;
  NetworkConfig config;
  data::Normalizers normalizers;
  std::int64_t max_batch;
  bool training;
  Layout layout;
  Plan plan;
  Wanted wanted;
  UpdatePlan update_plan;
  Constraints constraints;
  Memory memory;
  View parameters, statistics, updater_state;
  std::vector<View> gradients;  // of the lanes; the first becomes the sum
  std::vector<std::unique_ptr<Lane>> lanes;
  LaneTeam team;

  Batch seen;      // see batch_of()
  Prediction one;  // of predict() with a single output

  // The call in progress.
  Batch batch;
  Position at;
  tensor::UpdateTo to = tensor::UpdateTo::kGradient;
  const UpdateSink* sink = nullptr;
  std::span<const Part> inputs;
  std::span<Prediction> outputs;
  std::span<Tensor> state;
  std::vector<double> losses;
  bool gradient_finite = false, frozen = false;

  std::function<void(int)> compute_gradient, step, hold, measure, predict;
};

Network::State::State(NetworkConfig network, const data::Normalizers& scaling,
                      std::int64_t largest,
                      std::vector<std::unique_ptr<tensor::Device>> all,
                      bool with_gradients, std::span<const float> given)
    : devices(std::move(all)),
      config(std::move(network)),
      normalizers(scaling),
      max_batch(largest),
      training(with_gradients),
      layout(layout_of(config)),
      plan(plan_of(config, layout, with_gradients)),
      wanted(wanted_by(config, layout)),
      update_plan(config, layout, static_cast<int>(devices.size())),
      constraints(config, layout),
      memory(*devices.at(0)),
      team(static_cast<int>(devices.size())),
      losses(devices.size()) {
  require(max_batch > 0, "a network for empty mini-batches");
  aim_normalizers(config, normalizers);
  if (!given.empty()) parameters = devices[0]->adopt(given);
  if (parameters.empty())
    parameters = memory.allocate({layout.parameter_count});
  require(parameters.elements() == layout.parameter_count,
          "a model does not fit the network");
  statistics = memory.allocate({layout.statistics_count});
  updater_state = memory.allocate({training ? layout.state_count : 0});
  for (int i = 0; i < team.size(); ++i) {
    lanes.push_back(std::make_unique<Lane>(
        Lane::Common{&config, &layout, &plan, &normalizers, max_batch, training,
                     parameters, statistics, &team},
        i, device(i)));
    gradients.push_back(lanes.back()->gradient());
  }
  compute_gradient = [this](int lane) { gradient_task(lane); };
  step = [this](int lane) {
    update_plan.step(lane, device(lane), at, to, *sink, gradients[0],
                     parameters, updater_state);
  };
  measure = [this](int lane) {
    update_plan.measure(lane, device(lane), parameters);
  };
  hold = [this](int lane) {
    constraints.apply(device(lane), parameters, lane, team.size());
  };
  predict = [this](int lane) {
    lanes[static_cast<std::size_t>(lane)]->predict(inputs, outputs, state);
  };
}

// Each lane gathers its part of what the lanes with examples have found.
void Network::State::gradient_task(int lane) {
  const auto l = static_cast<std::size_t>(lane);
  losses[l] = lanes[l]->train(batch, at);
  team.barrier();
  const auto with_examples = static_cast<std::size_t>(
      std::min<std::int64_t>(team.size(), batch.examples()));
  update_plan.gather(lane, device(lane),
                     std::span(gradients).first(with_examples));
}

bool Network::State::update(const Position& position, tensor::UpdateTo target,
                            const UpdateSink& shown_to) {
  require(training, "an update of a network compiled without");
  at = position;
  to = target;
  sink = &shown_to;
  team.run(step);
  const bool finite = update_plan.finite();
  if (finite && to == tensor::UpdateTo::kParameters && !constraints.empty())
    team.run(hold);
  return finite;
}

Network::Network(NetworkConfig config, const data::Normalizers& normalizers,
                 std::int64_t max_batch,
                 std::vector<std::unique_ptr<tensor::Device>> lanes,
                 bool training, std::span<const float> parameters, Start start)
    : state_(std::make_unique<State>(std::move(config), normalizers, max_batch,
                                     std::move(lanes), training, parameters)) {
  // Others are given a model's parameters: drawing them would be for nothing.
  if (training && start == Start::kDrawn) initialise();
}

Network::~Network() = default;

const NetworkConfig& Network::config() const { return state_->config; }
std::vector<LayerSummary> Network::summary() const {
  return summarise(state_->config, state_->layout);
}
tensor::Shape Network::output(std::size_t i) const {
  return state_->layout.layers[state_->config.outputs.at(i)].output.shape;
}
std::int64_t Network::max_batch() const { return state_->max_batch; }

std::size_t Network::memory_bytes() const {
  std::size_t bytes = state_->memory.bytes();
  for (const auto& lane : state_->lanes) bytes += lane->bytes();
  return bytes;
}

tensor::Device& Network::device() { return state_->device(0); }

void Network::check_data(const data::Metadata& metadata) const {
  check_metadata(metadata, state_->wanted, state_->training);
}

View Network::parameters() { return state_->parameters; }
View Network::statistics() { return state_->statistics; }
View Network::update() { return state_->gradients[0]; }
View Network::updater_state() { return state_->updater_state; }
const std::vector<Segment>& Network::parameter_segments() const {
  return state_->layout.parameters;
}
const std::vector<Segment>& Network::statistics_segments() const {
  return state_->layout.statistics;
}
const std::vector<StateRange>& Network::state_ranges() const {
  return state_->layout.state;
}

void Network::initialise() {
  State& s = *state_;
  device().upload(s.parameters, initial_parameters(s.config, s.layout));
  if (!s.statistics.empty())
    device().upload(s.statistics, initial_statistics(s.layout));
  reset_updater_state();
}

void Network::reset_updater_state() {
  State& s = *state_;
  if (!s.updater_state.empty())
    device().upload(s.updater_state, initial_updater_state(s.layout));
}

double Network::compute_gradient(const Batch& batch, const Position& at) {
  State& s = *state_;
  require(s.training, "a gradient of a network compiled without");
  check_batch(batch, s.wanted);
  require(batch.examples() > 0 && batch.examples() <= s.max_batch,
          "a mini-batch larger than the network was compiled for");
  s.batch = batch;
  s.at = at;
  s.team.run(s.compute_gradient);
  s.gradient_finite = s.update_plan.finite();
  double sum = 0;
  for (const double loss : s.losses) sum += loss;
  return sum / static_cast<double>(batch.examples());
}

bool Network::gradient_is_finite() const { return state_->gradient_finite; }

bool Network::compute_update(const Position& at, const UpdateSink& sink) {
  return state_->update(at, tensor::UpdateTo::kGradient, sink);
}

bool Network::apply_update(const Position& at) {
  return state_->update(at, tensor::UpdateTo::kParameters, {});
}

double Network::regularization_score() {
  state_->team.run(state_->measure);
  return state_->update_plan.score();
}

void Network::freeze() {
  state_->frozen = true;
  if (state_->training) return;
  for (const auto& lane : state_->lanes) lane->freeze(*state_->lanes[0]);
}

const Batch& Network::batch_of(const data::DataSet& set) {
  fill_batch(set, state_->wanted, state_->seen);
  return state_->seen;
}

const Tensor& Network::labels(const Batch& batch, std::size_t i,
                              const Tensor& outputs, Tensor& room) const {
  if (batch.outputs[i].values == nullptr)
    throw Error{Code::kConfig,
                "there is nothing in the data that '" +
                    state_->config.layers[state_->config.outputs[i]].name +
                    "' is to be: its target is a node"};
  return labels_like(outputs, *batch.outputs[i].values,
                     state_->wanted.outputs[i], room);
}

void Network::State::run_predict(std::span<const Part> given,
                                 std::span<Prediction> made,
                                 std::span<Tensor> carried) {
  check_inputs(given, wanted);
  const std::int64_t n = given[0].values->shape()[0];
  for (std::size_t i = 0; i < made.size(); ++i) {
    const LayerLayout& layer = layout.layers[config.outputs[i]];
    made[i].values.resize(tensor::DType::kF32,
                          layer.output.shape.with_first(n));
    if (layer.mask)
      made[i].steps.resize(tensor::DType::kF32, {n, layer.output.shape[0]});
  }
  inputs = given;
  outputs = made;
  state = carried;
  team.run(predict);
}

void Network::predict(std::span<const Part> inputs,
                      std::vector<Prediction>& outputs,
                      std::span<Tensor> state) {
  if (!state_->frozen) freeze();
  outputs.resize(state_->config.outputs.size());
  state_->run_predict(inputs, outputs, state);
}

void Network::predict(const Tensor& features, Tensor& outputs,
                      const Tensor* features_mask) {
  require(state_->config.outputs.size() == 1, "an output of several");
  if (!state_->frozen) freeze();
  const Part input{&features, features_mask};
  Prediction& one = state_->one;
  one.values = std::move(outputs);
  state_->run_predict({&input, 1}, {&one, 1}, {});
  outputs = std::move(one.values);
}

}  // namespace dl::nn
