// A network as its caller sees it: the flat vectors and what runs on the team.

#include "libcore/nn/network.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/data/targets.h"
#include "libcore/nn/lane/lane.h"
#include "libcore/nn/lane/with_threads.h"
#include "libcore/nn/model/initialise.h"
#include "libcore/nn/plan/plan.h"
#include "libcore/nn/plan/value_memory.h"
#include "libcore/nn/time_segments.h"
#include "libcore/nn/update/constraints.h"
#include "libcore/nn/update/update_plan.h"

namespace dl::nn {

using tensor::Tensor;
using tensor::View;

std::int64_t Batch::examples() const { return inputs.at(0).values->shape()[0]; }

namespace {

// Purpose of a step.
enum class Goal { kGradient, kUpdate, kParameters };

// Sum over devices that have memories of their own.
std::unique_ptr<device::LaneSum> sum_of(
    std::span<const std::unique_ptr<device::Device>> devices) {
  if (devices.size() < 2) return nullptr;
  std::vector<device::Device*> lanes(devices.size());
  std::ranges::transform(devices, lanes.begin(),
                         &std::unique_ptr<device::Device>::get);
  return devices.front()->lane_sum(lanes);
}

}  // namespace

// Tasks are made once and read the arguments of the call in progress from
// here: a std::function that captured them would be allocated each time.
struct Network::State {
  State(NetworkConfig network, const data::Normalizers& scaling,
        std::int64_t largest, std::vector<std::unique_ptr<device::Device>> all,
        bool with_gradients, std::span<const float> given);

  void start(std::span<const float> given);
  void begin(const Batch& given, const Position& position,
             std::int64_t segment);
  std::uint64_t kind_of_step(std::int64_t segment, Goal goal) const;
  void gradient_task(int lane);
  void gradient_apart(int lane);
  void step_task(int lane);
  void show_gradient();
  void note_found(int lane, std::int64_t from);
  void gather(int lane, std::int64_t from, std::int64_t end);
  void judge() { update_plan.judge(device(0), losses, most_loss); }
  double loss() const;
  // Configuration that the lanes run: the network, or that of a segment.
  const NetworkConfig& lane_config() const {
    return segments ? segments->config() : config;
  }
  const Layout& lane_layout() const {
    return segments ? segment_layout : layout;
  }
  void freeze();
  void predict_all(std::span<const Part> given, std::span<Prediction> made,
                   std::span<Tensor> carried_on);
  void run_predict(std::span<const Part> given, std::span<Prediction> made,
                   std::span<Tensor> carried_on);
  void make_room(const Layout& of, std::int64_t examples,
                 std::span<Prediction> made) const;
  void predict_segments(std::span<const Part> given,
                        std::span<Prediction> made);
  bool update(const Position& position, device::UpdateTo target,
              const UpdateSink& shown_to);
  void write_update(int lane, bool guarded);
  StepResult found();
  device::Device& device(int lane) {
    return *devices[static_cast<std::size_t>(lane)];
  }

  void begin_device_step(std::int64_t segment, Goal goal);
  void end_device_step();
  void prepare_expected();
  void settle_expected(std::uint64_t serial);

  std::vector<std::unique_ptr<device::Device>> devices;
  LaneTeam team;
  NetworkConfig config;
  data::Normalizers normalizers;
  std::int64_t max_batch;
  bool training;
  Layout layout;
  std::optional<TimeSegments> segments;
  Layout segment_layout;
  Plan plan;
  Wanted wanted;
  Memory memory;
  UpdatePlan update_plan;
  Constraints constraints;
  View parameters, statistics, updater_state;
  // Gradients and losses of the lanes, as far as they share memory; the first
  // becomes the sum.
  std::vector<View> gradients, losses;
  std::vector<std::unique_ptr<Lane>> lanes;

  Batch seen;      // see batch_of()
  Batch expected;  // see expect()
  std::vector<const Tensor*> expected_values;
  // The device was told of it; its serial, until its step begins.
  bool told = false;
  std::uint64_t prepared = 0;
  Prediction one;  // of predict() with a single output
  // State of predict() in segments: the mini-batch, what is said of one, and
  // what is carried to the next.
  Batch whole;
  std::vector<Prediction> parts;
  std::vector<Tensor> carried;

  // The call in progress.
  Batch batch;
  Carry carry = Carry::kNothing;
  Position at;
  device::UpdateTo to = device::UpdateTo::kGradient;
  double most_loss = 0;
  const UpdateSink* sink = nullptr;
  const Watch* watched = nullptr;
  const GradientSink* gradient_sink = nullptr;
  std::vector<std::int64_t> gathered_from;  // by lane
  std::span<const Part> inputs;
  std::span<Prediction> outputs;
  std::span<Tensor> state;
  bool gradient_finite = false, frozen = false;

  std::function<void(int)> compute_gradient, update_alone, step, hold, measure,
      predict;
};

Network::State::State(NetworkConfig network, const data::Normalizers& scaling,
                      std::int64_t largest,
                      std::vector<std::unique_ptr<device::Device>> all,
                      bool with_gradients, std::span<const float> given)
    : devices(std::move(all)),
      team(static_cast<int>(devices.size()), sum_of(devices)),
      config(std::move(network)),
      normalizers(scaling),
      max_batch(largest),
      training(with_gradients),
      layout(layout_of(config)),
      segments(with_gradients && TimeSegments::has(config, layout)
                   ? std::make_optional<TimeSegments>(config, layout)
                   : std::nullopt),
      segment_layout(segments ? layout_of(segments->config()) : Layout()),
      plan(plan_of(lane_config(), lane_layout(), with_gradients,
                   {team.writers(), max_batch})),
      wanted(wanted_by(config, layout, normalizers.inputs)),
      memory(*devices.at(0)),
      update_plan(config, layout, plan.gradients, team.writers(), memory),
      constraints(config, layout) {
  try {
    start(given);
  } catch (const Error& e) {
    if (e.code() != Code::kUnavailable) throw;
    throw Error{e.code(), std::string(e.what()) + "; " +
                              heaviest_layer(config, layout, max_batch)};
  }
}

void Network::State::start(std::span<const float> given) {
  require(max_batch > 0, "a network for empty mini-batches");
  aim_normalizers(config, normalizers);
  if (!given.empty()) parameters = devices[0]->adopt(given);
  if (parameters.empty())
    parameters = memory.allocate({layout.parameter_count});
  require(parameters.elements() == layout.parameter_count,
          "a model does not fit the network");
  statistics = memory.allocate({layout.statistics_count});
  updater_state = memory.allocate({training ? layout.state_count : 0});
  const View gradient =
      memory.allocate({training ? layout.parameter_count : 0});
  const View joint_given = memory.allocate({plan.joint_given}),
             joint_made = memory.allocate({plan.joint_made});
  gathered_from.resize(static_cast<std::size_t>(team.size()));
  for (int i = 0; i < team.size(); ++i) {
    lanes.push_back(std::make_unique<Lane>(
        Lane::Common{&lane_config(), &lane_layout(), &plan, &normalizers,
                     max_batch, training, parameters, statistics, gradient,
                     joint_given, joint_made, &team},
        i, device(i)));
    if (i >= team.writers()) continue;
    gradients.push_back(lanes.back()->gradient());
    losses.push_back(lanes.back()->loss());
  }
  compute_gradient = [this](int lane) { gradient_task(lane); };
  update_alone = [this](int lane) { write_update(lane, false); };
  step = [this](int lane) { step_task(lane); };
  measure = [this](int lane) {
    if (lane < team.writers())
      update_plan.measure(lane, device(lane), parameters);
  };
  hold = [this](int lane) {
    if (lane < team.writers())
      constraints.apply(device(lane), parameters, lane, team.writers());
  };
  predict = [this](int lane) {
    Lane& own = *lanes[static_cast<std::size_t>(lane)];
    if (training && team.apart()) own.take_from_first();
    own.predict(inputs, outputs, state, false);
  };
}

void Network::State::gradient_task(int lane) {
  if (team.apart()) return gradient_apart(lane);
  const auto l = static_cast<std::size_t>(lane);
  gathered_from[l] = layout.parameter_count;
  if (*gradient_sink)
    lanes[l]->train(batch, at, carry, [this, lane](std::int64_t from) {
      note_found(lane, from);
    });
  else
    lanes[l]->train(batch, at, carry, {});
  team.barrier(lane);
  gather(lane, 0, gathered_from[l]);
}

// There is nothing to be shown before the end.
void Network::State::gradient_apart(int lane) {
  Lane& own = *lanes[static_cast<std::size_t>(lane)];
  own.take_from_first();
  own.train(batch, at, carry, {});
  own.give_to_first(batch.examples());
  if (lane == 0) gather(lane, 0, layout.parameter_count);
}

// Nobody waits for what is found on the way.
void Network::State::step_task(int lane) {
  gradient_task(lane);
  team.barrier(lane);
  if (lane == 0) {
    judge();
    show_gradient();
  }
  team.barrier(lane);
  write_update(lane, true);
}

void Network::State::show_gradient() {
  if (watched == nullptr || gradients[0].dtype != tensor::DType::kF32) return;
  const auto here = device(0).on_host(gradients[0]);
  if (!here.empty()) watched->gradient(here);
}

void Network::State::write_update(int lane, bool guarded) {
  if (lane >= team.writers()) return;
  update_plan.step(lane, device(lane), at, to, guarded, *sink, gradients[0],
                   parameters, updater_state);
}

// All lanes come here after the same steps.
void Network::State::note_found(int lane, std::int64_t from) {
  std::int64_t& before = gathered_from[static_cast<std::size_t>(lane)];
  if (from == 0 || from == before) return;
  team.barrier(lane);
  gather(lane, from, std::exchange(before, from));
  team.barrier(lane);
  if (lane == 0) (*gradient_sink)(loss(), from);
}

// Each lane gathers its part of what the lanes with examples have found.
void Network::State::gather(int lane, std::int64_t from, std::int64_t end) {
  const auto with_examples = static_cast<std::size_t>(
      std::min<std::int64_t>(team.writers(), batch.examples()));
  update_plan.gather(lane, device(lane),
                     std::span(gradients).first(with_examples), from, end);
}

double Network::State::loss() const {
  double sum = 0;
  for (const auto& lane : lanes) {
    double share = 0;
    lane->device().read({&share, 1}, lane->loss());
    sum += share;
  }
  return sum;
}

bool Network::State::update(const Position& position, device::UpdateTo target,
                            const UpdateSink& shown_to) {
  require(training, "an update of a network compiled without");
  at = position;
  to = target;
  sink = &shown_to;
  team.run(update_alone);
  update_plan.judge_written(device(0));
  return found().update_finite;
}

// Parameters that are finite are held to their constraints.
Network::StepResult Network::State::found() {
  const UpdatePlan::StepResult all = update_plan.found(device(0));
  if (all.update_finite && to == device::UpdateTo::kParameters &&
      !constraints.empty())
    team.run(hold);
  return {all.loss, all.gradient_finite, all.update_finite};
}

Network::Network(NetworkConfig config, const data::Normalizers& normalizers,
                 std::int64_t max_batch,
                 std::vector<std::unique_ptr<device::Device>> lanes,
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

std::size_t Network::memory_bytes() const {
  std::size_t bytes = state_->memory.bytes();
  for (const auto& lane : state_->lanes) bytes += lane->bytes();
  return bytes;
}

device::Device& Network::device() { return state_->device(0); }

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

std::int64_t Network::segments() const {
  return state_->segments ? state_->segments->count() : 1;
}

void Network::State::begin(const Batch& given, const Position& position,
                           std::int64_t segment) {
  require(training, "a step of a network compiled without");
  settle_expected(given.serial);
  if (segment == 0) check_batch(given, wanted);
  require(given.examples() > 0 && given.examples() <= max_batch,
          "a mini-batch larger than the network was compiled for");
  if (segments) {
    batch = segments->cut(given, segment);
    carry = segment == 0 ? Carry::kAfresh : Carry::kOn;
  } else {
    batch = given;
  }
  at = position;
}

// Steps of a kind make the same calls of the device.
std::uint64_t Network::State::kind_of_step(std::int64_t segment,
                                           Goal goal) const {
  return mix({static_cast<std::uint64_t>(batch.examples()),
              static_cast<std::uint64_t>(segment == 0),
              static_cast<std::uint64_t>(goal)});
}

// Several devices do not put off what they are told: sums over them are not
// part of what a device does by itself.
void Network::State::begin_device_step(std::int64_t segment, Goal goal) {
  if (!team.apart()) device(0).begin_step(kind_of_step(segment, goal));
}

void Network::State::end_device_step() {
  if (!team.apart()) device(0).end_step();
  prepare_expected();
}

// Lanes have their own parts of a mini-batch, and segments copies of theirs.
void Network::State::prepare_expected() {
  if (expected.serial == 0 || team.size() > 1 || segments) return;
  expected_values.clear();
  for (const Part& input : expected.inputs)
    if (input.values != nullptr) expected_values.push_back(input.values);
  device(0).expect(expected_values);
  prepared = std::exchange(expected.serial, 0);
  told = true;
}

// Before a call that is given this: it may be something else, or be where that
// was.
void Network::State::settle_expected(std::uint64_t serial) {
  if (told && (prepared == 0 || serial != prepared)) {
    device(0).expect({});
    told = false;
  }
  prepared = 0;
}

double Network::compute_gradient(const Batch& batch, const Position& at,
                                 std::int64_t segment,
                                 const GradientSink& sink) {
  State& s = *state_;
  s.begin(batch, at, segment);
  s.gradient_sink = &sink;
  s.most_loss = std::numeric_limits<double>::max();
  s.begin_device_step(segment, Goal::kGradient);
  s.team.run(s.compute_gradient);
  s.judge();
  s.show_gradient();
  s.end_device_step();
  const UpdatePlan::StepResult found = s.update_plan.found(device());
  s.gradient_finite = found.gradient_finite;
  return found.loss;
}

Network::StepResult Network::step(const Batch& batch, const Position& at,
                                  std::int64_t segment, device::UpdateTo to,
                                  const UpdateSink& sink, double most_loss) {
  static const GradientSink kNobody;
  State& s = *state_;
  s.begin(batch, at, segment);
  s.gradient_sink = &kNobody;
  s.most_loss = most_loss;
  s.to = to;
  s.sink = &sink;
  s.begin_device_step(segment, to == device::UpdateTo::kGradient
                                   ? Goal::kUpdate
                                   : Goal::kParameters);
  s.team.run(s.step);
  s.update_plan.judge_written(device());
  s.end_device_step();
  return s.found();
}

void Network::watch(const Watch* watch) {
  state_->watched = watch;
  state_->lanes[0]->watch(watch);
}

bool Network::gradient_is_finite() const { return state_->gradient_finite; }

bool Network::compute_update(const Position& at, const UpdateSink& sink) {
  return state_->update(at, device::UpdateTo::kGradient, sink);
}

bool Network::apply_update(const Position& at) {
  return state_->update(at, device::UpdateTo::kParameters, {});
}

double Network::regularization_score() {
  state_->team.run(state_->measure);
  return state_->update_plan.score(device());
}

void Network::State::freeze() {
  frozen = true;
  if (training) return;
  if (team.apart())
    team.run([this](int lane) {
      lanes[static_cast<std::size_t>(lane)]->take_from_first();
    });
  for (const auto& lane : lanes) lane->freeze(team.apart() ? *lane : *lanes[0]);
}

void Network::freeze() { state_->freeze(); }

const Batch& Network::batch_of(const data::DataSet& set, std::uint64_t serial) {
  fill_batch(set, state_->wanted, state_->seen);
  state_->seen.serial = serial;
  return state_->seen;
}

void Network::expect(const Batch& batch) { state_->expected = batch; }

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
                                 std::span<Tensor> carried_on) {
  make_room(lane_layout(), given[0].values->shape()[0], made);
  inputs = given;
  outputs = made;
  state = carried_on;
  if (2 * given[0].values->shape()[0] > team.size()) return team.run(predict);
  const WithThreads rather_than_lanes(device(0), team);
  lanes[0]->predict(inputs, outputs, state, true);
}

void Network::State::make_room(const Layout& of, std::int64_t examples,
                               std::span<Prediction> made) const {
  for (std::size_t i = 0; i < made.size(); ++i) {
    const LayerLayout& layer = of.layers[config.outputs[i]];
    made[i].values.resize(tensor::DType::kF32,
                          layer.output.shape.with_first(examples));
    if (layer.mask)
      made[i].steps.resize(tensor::DType::kF32,
                           {examples, layer.output.shape[0]});
  }
}

void Network::State::predict_segments(std::span<const Part> given,
                                      std::span<Prediction> made) {
  const std::int64_t n = given[0].values->shape()[0];
  make_room(layout, n, made);
  std::size_t count = 0;
  for (const LayerLayout& layer : layout.layers)
    for (const CarriedSpec& part : layer.carried) {
      if (carried.size() == count) carried.emplace_back();
      Tensor& room = carried[count++];
      room.resize(tensor::DType::kF32, part.shape.with_first(n));
      std::ranges::fill(room.as<float>(), 0.0f);
    }
  whole.inputs.assign(given.begin(), given.end());
  parts.resize(made.size());
  for (std::int64_t s = 0; s < segments->count(); ++s) {
    run_predict(segments->cut(whole, s).inputs, parts, carried);
    for (std::size_t i = 0; i < made.size(); ++i) {
      // The last segment has one where steps were made up.
      if (s == 0) made[i].masked = parts[i].masked;
      segments->put(parts[i], s, made[i]);
    }
  }
}

void Network::State::predict_all(std::span<const Part> given,
                                 std::span<Prediction> made,
                                 std::span<Tensor> carried_on) {
  if (!frozen) freeze();
  settle_expected(0);
  check_inputs(given, wanted);
  if (!segments) return run_predict(given, made, carried_on);
  require(carried_on.empty(), "a state for a network that is trained");
  predict_segments(given, made);
}

void Network::predict(std::span<const Part> inputs,
                      std::vector<Prediction>& outputs,
                      std::span<Tensor> state) {
  outputs.resize(state_->config.outputs.size());
  state_->predict_all(inputs, outputs, state);
}

void Network::predict(const Tensor& features, Tensor& outputs,
                      const Tensor* features_mask) {
  require(state_->config.outputs.size() == 1, "an output of several");
  const Part input{&features, features_mask};
  Prediction& one = state_->one;
  one.values = std::move(outputs);
  state_->predict_all({&input, 1}, {&one, 1}, {});
  outputs = std::move(one.values);
}

}  // namespace dl::nn
