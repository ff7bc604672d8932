// Building the layers of a lane, and learning from its share.

#include "libcore/nn/lane/lane.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace dl::nn {

using tensor::Shape;
using tensor::View;

namespace {

// View of values in a layer that takes each of so many steps separately.
View merged(View v, std::int64_t steps) {
  if (steps == 0 || v.empty()) return v;
  return v.reshaped(
      v.shape.without_first().without_first().with_first(v.shape[0] * steps));
}

// And the step that it sees.
Step times(Step step, std::int64_t steps) {
  if (steps == 0) return step;
  step.examples *= steps;
  step.first *= steps;
  step.total *= steps;
  return step;
}

// By another layer, or as what an output is compared with.
std::vector<bool> read_values(const Plan& plan, const NetworkConfig& config) {
  std::vector<bool> read(plan.values.size());
  for (const PlannedLayer& step : plan.steps)
    for (const Value v : step.inputs) read[v] = true;
  for (const LayerConfig& layer : config.layers)
    if (layer.target) read[*layer.target] = true;
  return read;
}

}  // namespace

Lane::Lane(const Common& common, int index, device::Device& device)
    : common_(common),
      index_(index),
      max_batch_(share(common.max_batch).count),
      device_(&device),
      memory_(device) {
  // A lane that never has an example still takes part in every sum.
  max_batch_ = std::max<std::int64_t>(max_batch_, 1);
  const NetworkConfig& config = *common_.config;
  const Layout& layout = *common_.layout;
  const bool training = common_.training;
  const tensor::DType kept = device.activations();
  places_ =
      place(common_.plan->buffers, max_batch_,
            static_cast<std::int64_t>(size_of(device.real()) / size_of(kept)));
  arena_ = memory_.allocate({places_.elements}, kept);
  if (index == 0)
    gradient_ = common_.gradient;
  else if (training)
    gradient_ = memory_.allocate({common_.plan->gradients.elements});
  if (training) loss_ = memory_.allocate({1}, tensor::DType::kF64);
  if (index > 0 && common_.team->apart()) {
    common_.parameters = memory_.allocate(common_.parameters.shape);
    common_.statistics = memory_.allocate(common_.statistics.shape);
  }
  for (std::size_t i = 0; i < config.inputs.size(); ++i)
    inputs_.emplace_back(device, memory_, layout.inputs[i],
                         common_.normalizers->input(i), max_batch_);
  for (std::size_t i = 0; i < config.outputs.size(); ++i)
    outputs_.emplace_back(device, memory_,
                          layout.layers[config.outputs[i]].output,
                          config.layers[config.outputs[i]].settings,
                          common_.normalizers->output(i), max_batch_, training);
  made_.resize(config.value_of(config.layers.size()));
  build_layers();
}

void Lane::build_layers() {
  const Plan& plan = *common_.plan;
  const std::vector<bool> read = read_values(plan, *common_.config);
  std::int64_t summed = 0;
  losses_.resize(common_.config->outputs.size());
  if (std::ranges::any_of(outputs_, &LaneOutput::is_over_steps)) summed = 1;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlannedLayer& step = plan.steps[i];
    nodes_.emplace_back();
    Node& node = nodes_.back();
    node.flow.x.resize(step.inputs.size());
    node.flow.masks.resize(step.inputs.size());
    node.flow.dx.resize(step.inputs.size());
    summed = std::max(summed, step.summed);
    const LayerLayout& own = common_.layout->layers[step.layer];
    if (own.joins_masks)
      node.joined = memory_.allocate(
          {max_batch_ * own.output.copies, own.output.shape[0]});
    if (step.buffers.alias) continue;
    node.layer = step.make(site(i, read[step.output]), memory_);
    const auto output = std::ranges::find(common_.config->outputs, step.layer);
    if (!common_.training || output == common_.config->outputs.end()) continue;
    auto* loss = dynamic_cast<OutputLayer*>(node.layer.get());
    require(loss != nullptr, "an output without a loss");
    losses_[static_cast<std::size_t>(output -
                                     common_.config->outputs.begin())] = loss;
  }
  if (common_.training && summed > 0) sum_scratch_ = memory_.allocate({summed});
}

// The weight of another layer comes before what the layer has itself.
void Lane::tie(LayerSite& site, std::size_t index) {
  const Layout& layout = *common_.layout;
  const PlannedLayer& step = common_.plan->steps[index];
  const auto tied = layout.layers[step.layer].tied;
  if (!tied) return;
  const Segment& weight = layout.parameters[*tied];
  site.parameters.push_back(common_.parameters.at(weight.offset, weight.shape));
  if (!common_.training) return;
  if (!common_.config->layers[weight.layer].training.frozen)
    nodes_[index].tied_gradient = memory_.allocate(weight.shape);
  site.gradients.push_back(nodes_[index].tied_gradient);
  if (auto& noise = nodes_[index].noise)
    site.parameters[0] = noise->add(site.parameters[0], site.gradients[0]);
}

LayerSite Lane::site(std::size_t index, bool is_read) {
  const PlannedLayer& step = common_.plan->steps[index];
  const Layout& layout = *common_.layout;
  const LayerLayout& own = layout.layers[step.layer];
  LayerSite s;
  s.device = device_;
  s.settings = &step.settings;
  s.index = static_cast<int>(step.layer);
  s.seed = common_.config->seed;
  s.inputs = own.inputs;
  s.output = layout.form(step.output);
  s.max_batch = max_batch_ * s.inputs[0].copies;
  if (own.each_of > 0) {
    s.output.shape = s.output.shape.without_first();
    s.output.steps = false;
    s.max_batch *= own.each_of;
  }
  if (step.inputs[0] < inputs_.size()) {
    s.shift = inputs_[step.inputs[0]].scale().shift;
    s.scale = inputs_[step.inputs[0]].scale().scale;
    s.mixed = inputs_[step.inputs[0]].mixes();
  }
  s.truncate = common_.config->tbptt_length;
  s.loss = loss_;
  s.training = common_.training;
  s.frozen = common_.config->layers[step.layer].training.frozen;
  s.keeps_statistics = index_ == 0 && !s.frozen;
  if (step.joint)
    s.joint = {.slice = {index_, common_.team->size()},
               .given = common_.given,
               .made = common_.made};
  s.read_by_loss_alone = !is_read;
  disturb_weights(index);
  tie(s, index);
  give_own(s, index);
  return s;
}

// One layer decides for tied weights, and for those that several layers share.
void Lane::disturb_weights(std::size_t index) {
  const PlannedLayer& step = common_.plan->steps[index];
  const LayerConfig& layer = common_.config->layers[step.layer];
  const std::size_t keeper =
      layer.tied_to.value_or(layer.shares.value_or(step.layer));
  const Training& keeps = common_.config->layers[keeper].training;
  if (common_.training && keeps.weight_noise.any() && !keeps.frozen)
    nodes_[index].noise.emplace(*device_, memory_, keeps.weight_noise,
                                common_.config->seed, keeper);
}

// The parameters, gradients and statistics that the layer itself has.
void Lane::give_own(LayerSite& site, std::size_t index) {
  const Layout& layout = *common_.layout;
  const LayerLayout& own = layout.layers[common_.plan->steps[index].layer];
  const std::span segments =
      std::span(layout.parameters)
          .subspan(own.parameters_begin,
                   own.parameters_end - own.parameters_begin);
  const View gradient = gradient_of(site, index, segments);
  auto& noise = nodes_[index].noise;
  for (const Segment& segment : segments) {
    site.parameters.push_back(
        common_.parameters.at(segment.offset, segment.shape));
    if (common_.training)
      site.gradients.push_back(
          gradient.at(segment.offset - segments.front().offset, segment.shape));
    if (noise && segment.role == Role::kWeight)
      site.parameters.back() =
          noise->add(site.parameters.back(), site.gradients.back());
  }
  for (std::size_t p = own.statistics_begin; p < own.statistics_end; ++p) {
    const Segment& segment = layout.statistics[p];
    site.statistics.push_back(
        common_.statistics.at(segment.offset, segment.shape));
  }
}

// Where the layer sets the gradient of these parameters: room of its own where
// that is added to what others set, or is of no use.
View Lane::gradient_of(const LayerSite& site, std::size_t index,
                       std::span<const Segment> parameters) {
  if (!common_.training || parameters.empty()) return {};
  const PlannedLayer& step = common_.plan->steps[index];
  const View gradient =
      gradient_from(common_.layout->layers[step.layer].parameters_begin, {});
  const bool unused = site.frozen && !step.joint;
  if (gradient.empty() || !(step.adds_gradient || unused)) return gradient;
  const Segment& last = parameters.back();
  const View room = memory_.allocate(
      {last.offset + last.elements() - parameters.front().offset});
  if (!site.frozen) nodes_[index].shared_gradient = room;
  return room;
}

View Lane::gradient_from(std::size_t segment, Shape shape) const {
  const std::int64_t own = common_.plan->gradients.offsets[segment];
  if (index_ > 0 && own != LaneGradients::kNone)
    return gradient_.at(own, shape);
  return common_.gradient.at(common_.layout->parameters[segment].offset, shape);
}

Share Lane::share(std::int64_t total) const {
  return share_of(index_, common_.team->size(), total);
}

void Lane::all_reduce(View mine) {
  common_.team->all_reduce(index_, *device_, mine,
                           sum_scratch_.at(0, mine.shape));
}

void Lane::barrier() { common_.team->barrier(index_); }

bool Lane::alone() const { return common_.team->size() == 1; }

View Lane::in_buffer(BufferIndex buffer, Shape shape) const {
  View view = arena_.at(places_.offsets[buffer], shape);
  if (common_.plan->buffers[buffer].whole) view.dtype = device_->real();
  return view;
}

// Value v, or its gradient, of so many examples.
View Lane::in_buffer(BufferIndex buffer, Value v, std::int64_t examples) const {
  if (buffer == kNoBuffer) return {};
  const ValueSpec& form = common_.layout->form(v);
  View view = in_buffer(buffer, form.shape.with_first(examples * form.copies));
  if (form.tokens) view.dtype = tensor::DType::kI32;  // no larger than reals
  return view;
}

View Lane::value(Value v, std::int64_t examples) const {
  return in_buffer(common_.plan->values[v], v, examples);
}

// Current mask of a value.
View Lane::mask_of(Value v) const {
  const std::size_t inputs = inputs_.size();
  if (v < inputs) return inputs_[v].mask();
  const auto source = common_.layout->layers[v - inputs].mask;
  if (!source) return {};
  return *source < inputs ? inputs_[*source].mask() : made_[*source];
}

void Lane::load(std::span<const Part> inputs, Share rows) {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    inputs_[i].load(inputs[i], rows, value(i, rows.count));
}

void Lane::forward(const Step& step) {
  const Layout& layout = *common_.layout;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const PlannedLayer& planned = common_.plan->steps[i];
    Node& node = nodes_[i];
    Flow& flow = node.flow;
    if (node.layer == nullptr || (step.examples == 0 && !planned.meets()))
      continue;
    const LayerLayout& own = layout.layers[planned.layer];
    for (std::size_t k = 0; k < planned.inputs.size(); ++k) {
      flow.x[k] = merged(value(planned.inputs[k], step.examples), own.each_of);
      if (own.each_of == 0) flow.masks[k] = mask_of(planned.inputs[k]);
    }
    flow.y = merged(value(planned.output, step.examples), own.each_of);
    if (node.noise) node.noise->draw(step);
    node.layer->forward(flow, times(step, own.each_of));
    if (watch_ != nullptr && step.training) show(planned.layer, flow.y);
    // By the value before a fusion, which those behind it refer to.
    made_[common_.config->value_of(planned.layer)] =
        own.joins_masks ? join_masks(node) : node.layer->mask(flow);
  }
}

void Lane::show(std::size_t layer, View outputs) const {
  if (outputs.empty() || outputs.dtype != tensor::DType::kF32) return;
  const auto here = device_->on_host(outputs);
  if (!here.empty()) watch_->outputs(layer, here);
}

// A step counts that counts in all inputs.
View Lane::join_masks(const Node& node) const {
  View all;
  for (const View& mask : node.flow.masks) {
    if (mask.empty() || mask.shape[1] != node.joined.shape[1]) continue;
    if (all.empty()) {
      all = mask;
      continue;
    }
    const View product = node.joined.at(0, mask.shape);
    device_->multiply(product, all, mask);
    all = product;
  }
  return all;
}

// The padding of a target is not to be learnt.
void Lane::load_target(const Batch& batch, Share rows, std::size_t i) {
  const NetworkConfig& config = *common_.config;
  const View own = mask_of(config.value_of(config.outputs[i]));
  const auto target = config.layers[config.outputs[i]].target;
  if (!target) return outputs_[i].load(batch.outputs[i], rows, own);
  const View its =
      common_.layout->form(*target).steps ? mask_of(*target) : View{};
  outputs_[i].compare_with(value(*target, rows.count), its.empty() ? own : its);
}

void Lane::losses(const Batch& batch, Share rows) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Value v = common_.config->value_of(common_.config->outputs[i]);
    LaneOutput& output = outputs_[i];
    if (rows.count > 0) load_target(batch, rows, i);
    if (output.is_over_steps()) average_over_steps(output, rows.count);
    if (rows.count == 0) continue;
    const double scale =
        output.is_over_steps() ? 1 : 1.0 / static_cast<double>(rows.total);
    output.loss(*losses_[i], in_buffer(common_.plan->losses[i], v, rows.count),
                value(v, rows.count), scale);
  }
}

// Over those of all lanes.
void Lane::average_over_steps(LaneOutput& output, std::int64_t rows) {
  all_reduce(output.count(rows));
  if (rows > 0) output.divide_by_count(rows);
}

void Lane::backward(const BackwardStep& back, const Step& step) {
  const PlannedLayer& planned = common_.plan->steps[back.step];
  const std::int64_t n = step.examples;
  Node& node = nodes_[back.step];
  Flow& flow = node.flow;
  const LayerLayout& own = common_.layout->layers[planned.layer];
  flow.dy = merged(in_buffer(back.dy, planned.output, n), own.each_of);
  if (back.copied != kNoBuffer)
    device_->copy(
        flow.dy,
        in_buffer(back.copied, planned.output, n).reshaped(flow.dy.shape));
  for (std::size_t k = 0; k < planned.inputs.size(); ++k)
    flow.dx[k] =
        merged(in_buffer(back.dx[k], planned.inputs[k], n), own.each_of);
  node.layer->backward(flow, times(step, own.each_of));
  if (node.noise) node.noise->pass_gradients();
  const View& shared = node.shared_gradient;
  if (shared.empty()) return;
  device_->add(gradient_from(own.parameters_begin, shared.shape), 1, shared);
}

void Lane::backward_and_sum(const BackwardStep& back, const Step& step) {
  if (back.computes) backward(back, step);
  for (const auto& [to, from, copies, elements] : back.sums) {
    const Shape all{elements * step.examples};
    const View sum = in_buffer(to, all), part = in_buffer(from, all);
    copies ? device_->copy(sum, part) : device_->add(sum, 1, part);
  }
}

// After all else, in the order of the plan; the layer that has the weight has
// set its gradient.
void Lane::add_tied_gradients() {
  const Layout& layout = *common_.layout;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const View& gradient = nodes_[i].tied_gradient;
    if (gradient.empty()) continue;
    const auto tied = layout.layers[common_.plan->steps[i].layer].tied;
    device_->add(gradient_from(*tied, gradient.shape), 1, gradient);
  }
}

void Lane::backward(const Step& step, const GradientReady& found) {
  for (const BackwardStep& back : common_.plan->backward) {
    if (step.examples > 0 || common_.plan->steps[back.step].meets())
      backward_and_sum(back, step);
    if (found) found(back.found_from);
  }
  if (step.examples > 0) add_tied_gradients();
}

void Lane::train(const Batch& batch, const Position& at, Carry carry,
                 const GradientReady& found) {
  const Share rows = share(batch.examples());
  const auto all = static_cast<double>(rows.total);
  const Step step{
      .training = true,
      .examples = rows.count,
      .first = rows.first,
      .total = rows.total,
      .share = at.whole > 0 ? all / static_cast<double>(at.whole) : 1,
      .at = at,
      .lanes = this};
  if (rows.count > 0) load(batch.inputs, rows);
  carry_state(rows.count, carry);
  device_->fill(loss_, 0);
  forward(step);
  losses(batch, rows);
  backward(step, found);
}

void Lane::take_from_first() {
  common_.team->broadcast(index_, common_.parameters);
  common_.team->broadcast(index_, common_.statistics);
}

void Lane::give_to_first(std::int64_t examples) {
  if (share(examples).count == 0) device_->fill(gradient_, 0);
  common_.team->reduce(index_, gradient_);
  common_.team->reduce(index_, loss_);
}

void Lane::freeze(Lane& first) {
  const Layout& layout = *common_.layout;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Layer* layer = nodes_[i].layer.get();
    if (layer == nullptr) continue;
    if (const auto absorbed = common_.plan->steps[i].absorbs) {
      const LayerLayout& norm = layout.layers[*absorbed];
      const auto parameter = [&](std::size_t k) {
        const Segment& s = layout.parameters[norm.parameters_begin + k];
        return common_.parameters.at(s.offset, s.shape);
      };
      const auto statistic = [&](std::size_t k) {
        const Segment& s = layout.statistics[norm.statistics_begin + k];
        return common_.statistics.at(s.offset, s.shape);
      };
      layer->absorb(scaling_of(
          *device_, statistic(0), statistic(1), parameter(0), parameter(1),
          common_.config->layers[*absorbed].settings.number("epsilon")));
    }
    if (&first == this)
      layer->freeze();
    else
      layer->freeze_like(*first.nodes_[i].layer);
  }
}

}  // namespace dl::nn
