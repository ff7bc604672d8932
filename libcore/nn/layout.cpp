// Shape inference, and the order and names of parameters.

#include "libcore/nn/layout.h"

#include <algorithm>
#include <span>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::nn {
namespace {

// Updater of frozen parameters.
UpdaterConfig no_updater() {
  UpdaterConfig none;
  none.kind = device::Updater::kNone;
  return none;
}

// Turns the blueprint of a type for one step into that of the layer for a
// sequence.
void put_together(std::int64_t steps, LayerShape& plan) {
  if (plan.output.shape.rank() + 1 >= tensor::Shape::kMaxRank)
    throw Error{Code::kConfig, "its output " + plan.output.shape.to_string() +
                                   " at each step has too many dimensions"};
  plan.output.shape = plan.output.shape.with_first(steps);
  plan.output.steps = true;
  plan.mask = MaskRule::kPassed;  // whatever it does to a step
  plan.step_by_step = true;
  plan.flops *= static_cast<double>(steps);
}

// Adds segments and counts what they hold.
class Builder {
 public:
  Builder(const NetworkConfig& config, Layout& layout)
      : config_(config), layout_(layout) {}

  void add_input(const InputConfig& input);
  void add_layer();
  void check_output(std::size_t layer) const;

 private:
  void find_mask(const LayerShape& plan, LayerLayout& layer) const;
  std::optional<Value> mask_of(Value v) const {
    const std::size_t inputs = layout_.inputs.size();
    if (v >= inputs) return layout_.layers[v - inputs].mask;
    return layout_.inputs[v].steps ? std::optional(v) : std::nullopt;
  }
  const LayerConfig& config() const {
    return config_.layers[layout_.layers.size()];
  }
  void append(std::vector<Segment>& to, std::int64_t& count,
              TensorSpec tensor) {
    check_size(tensor.shape, tensor.name);
    tensor.name = config().name + "/" + tensor.name;
    to.push_back({std::move(tensor), count, layout_.layers.size()});
    count += to.back().elements();
    if (count > kMaxReals)
      throw Error{Code::kConfig, "the network has more than 2^40 numbers"};
  }
  void extend_state(const Segment& segment);
  void tie(LayerLayout& layer, LayerShape& plan) const;
  void share(LayerLayout& layer, const LayerShape& plan) const;
  void take_each_step(LayerLayout& layer) const;

  const NetworkConfig& config_;
  Layout& layout_;
};

void Builder::extend_state(const Segment& segment) {
  const Training& training = config().training;
  const UpdaterConfig updater = training.frozen ? no_updater()
                                : segment.role == Role::kBias
                                    ? training.bias_updater
                                    : training.updater;
  auto& ranges = layout_.state;
  if (ranges.empty() || !(ranges.back().updater == updater))
    ranges.push_back(
        {.begin = segment.offset,
         .end = segment.offset,
         .per_parameter = device::state_per_parameter(updater.kind),
         .offset = layout_.state_count,
         .updater = updater});
  ranges.back().end += segment.elements();
  layout_.state_count += segment.elements() * ranges.back().per_parameter;
}

// A network without layers that read sequences takes [8, 8] as it always did.
void Builder::add_input(const InputConfig& input) {
  const std::string place =
      config_.is_graph()
          ? "inputs[" + std::to_string(layout_.inputs.size()) + "]"
          : "input";
  check_size(input.shape, place + ".shape");
  ValueSpec form{.shape = input.shape};
  const Value own = layout_.inputs.size();
  form.tokens = std::ranges::any_of(config_.layers, [&](const auto& l) {
    return l.type->tokens != nullptr && std::ranges::count(l.from, own) > 0;
  });
  const bool steps =
      input.shape.rank() == (form.tokens ? 1 : 2) &&
      (form.tokens || std::ranges::any_of(config_.layers, [](const auto& l) {
         return l.type->recurrent || l.type->reads_sequences;
       }));
  // The input of layers that take each step separately is a sequence whatever a
  // step is.
  const bool each = std::ranges::any_of(config_.layers, [&](const auto& l) {
    return l.each_step && std::ranges::count(l.from, own) > 0;
  });
  form.steps = input.steps.value_or(steps || each);
  layout_.inputs.push_back(form);
}

void Builder::find_mask(const LayerShape& plan, LayerLayout& layer) const {
  const Value own = config_.value_of(layout_.layers.size());
  if (plan.mask == MaskRule::kMade) layer.mask = own;
  if (plan.mask != MaskRule::kPassed || !plan.output.steps) return;
  for (const Value v : config().from) {
    if (!layout_.form(v).steps || !mask_of(v) ||
        layout_.form(v).shape[0] != plan.output.shape[0])
      continue;
    layer.joins_masks = layer.mask && layer.mask != mask_of(v);
    layer.mask = layer.joins_masks ? own : mask_of(v);
    if (layer.joins_masks) return;
  }
}

// Takes the weight, the first tensor, out of the plan.
void Builder::tie(LayerLayout& layer, LayerShape& plan) const {
  const LayerConfig& owner = config_.layers[*config().tied_to];
  const LayerLayout& its = layout_.layers[*config().tied_to];
  const tensor::Shape& wanted = plan.parameters.at(0).shape;
  const auto refuse = [&](const std::string& what) {
    throw Error{Code::kConfig,
                "it is tied to '" + displayed(owner.name) + "', " + what};
  };
  if (its.parameters_begin == its.parameters_end ||
      layout_.parameters[its.parameters_begin].name !=
          owner.name + "/" + plan.parameters[0].name ||
      layout_.parameters[its.parameters_begin].shape.rank() != 2)
    refuse("which has no weight [units, inputs]");
  const tensor::Shape& shape = layout_.parameters[its.parameters_begin].shape;
  if (shape != wanted)
    refuse("whose weight is " + shape.to_string() + "; it has " +
           std::to_string(wanted[0]) + " inputs and " +
           std::to_string(wanted[1]) + " units, not " +
           std::to_string(shape[0]) + " and " + std::to_string(shape[1]));
  layer.tied = its.parameters_begin;
  plan.parameters.erase(plan.parameters.begin());
}

// Shapes that what is shared does not fit are refused.
void Builder::share(LayerLayout& layer, const LayerShape& plan) const {
  const LayerLayout& owner = layout_.layers[*config().shares];
  const auto segments =
      std::span(layout_.parameters)
          .subspan(owner.parameters_begin,
                   owner.parameters_end - owner.parameters_begin);
  if (!std::ranges::equal(segments, plan.parameters,
                          [](const Segment& a, const TensorSpec& b) {
                            return a.shape == b.shape;
                          }))
    throw Error{Code::kConfig, "its input does not fit the parameters of '" +
                                   config_.layers[*config().shares].name + "'"};
  layer.parameters_begin = owner.parameters_begin;
  layer.parameters_end = owner.parameters_end;
  layer.statistics_begin = owner.statistics_begin;
  layer.statistics_end = owner.statistics_end;
}

void Builder::take_each_step(LayerLayout& layer) const {
  const LayerType& type = *config().type;
  if (type.recurrent || type.reads_sequences || type.output != nullptr ||
      type.tokens != nullptr || type.inputs.most != 1)
    throw Error{Code::kConfig,
                "time_distributed is for types of one input "
                "that do not read sequences themselves"};
  if (type.adds_loss)
    throw Error{Code::kConfig,
                "time_distributed: what it adds to the loss is of an example, "
                "not of a step"};
  ValueSpec& input = layer.inputs[0];
  if (!input.steps || input.shape.rank() < 2)
    throw Error{
        Code::kConfig,
        "time_distributed is for sequences [steps, ...], its input is " +
            input.shape.to_string()};
  layer.each_of = input.shape[0];
  input.shape = input.shape.without_first();
  input.steps = false;
}

void Builder::add_layer() {
  LayerLayout layer;
  for (const Value v : config().from) {
    layer.inputs.push_back(layout_.form(v));
    if (layer.inputs.back().tokens && config().type->tokens == nullptr)
      throw Error{Code::kConfig,
                  "its input are token numbers, as another layer reads them"};
  }
  const bool each_step = config().each_step;
  if (each_step) take_each_step(layer);
  LayerShape plan = config().type->infer(config().settings, layer.inputs);
  if (each_step && plan.summed > 0)
    throw Error{Code::kConfig,
                "time_distributed: it looks at all steps of the mini-batch at "
                "once, and takes sequences as they are; leave that out"};
  if (each_step) put_together(layer.each_of, plan);
  check_size(plan.output.shape, "its output");
  layer.output = plan.output;
  find_mask(plan, layer);
  layer.step_by_step = plan.step_by_step;
  layer.carried = plan.carried;
  layer.flops = plan.flops;
  layer.summed = config().training.frozen ? 0 : plan.summed;
  layer.buffers = plan.buffers;
  if (config().tied_to) tie(layer, plan);
  if (config().shares) {
    share(layer, plan);
    layout_.layers.push_back(std::move(layer));
    return;
  }
  layer.parameters_begin = layout_.parameters.size();
  layer.statistics_begin = layout_.statistics.size();
  for (TensorSpec& tensor : plan.parameters) {
    append(layout_.parameters, layout_.parameter_count, std::move(tensor));
    extend_state(layout_.parameters.back());
  }
  for (TensorSpec& tensor : plan.statistics)
    append(layout_.statistics, layout_.statistics_count, std::move(tensor));
  layer.parameters_end = layout_.parameters.size();
  layer.statistics_end = layout_.statistics.size();
  layout_.layers.push_back(std::move(layer));
}

// Checks that the output of a layer with a loss can be compared. that it can be
// compared.
void Builder::check_output(std::size_t layer) const {
  const ValueSpec& output = layout_.layers[layer].output;
  const auto refuse = [](const std::string& what) {
    throw Error{Code::kConfig, what};
  };
  if (output.steps && output.copies > 1)
    refuse("a stack of sequences has no loss; unstack it");
  if (!config_.layers[layer].target) return;
  const ValueSpec& target = layout_.form(*config_.layers[layer].target);
  if (target.tokens) refuse("its target are token numbers");
  if (target.shape.elements() != output.shape.elements() ||
      (target.steps && target.shape != output.shape))
    refuse("it gives " + output.shape.to_string() + ", its target is " +
           target.shape.to_string());
  if (target.copies != 1 && target.copies != output.copies)
    refuse("its target is a stack of " + std::to_string(target.copies) +
           ", it gives " + std::to_string(output.copies));
}

}  // namespace

Layout layout_of(const NetworkConfig& config) {
  Layout layout;
  Builder builder(config, layout);
  for (const InputConfig& input : config.inputs) builder.add_input(input);
  const auto naming = [](const LayerConfig& layer, const auto& work) {
    try {
      work();
    } catch (Error& e) {
      e.add_context(layer.place + " ('" + displayed(layer.name) + "')");
      throw;
    }
  };
  for (const LayerConfig& layer : config.layers)
    naming(layer, [&] { builder.add_layer(); });
  for (const std::size_t output : config.outputs)
    naming(config.layers[output], [&] { builder.check_output(output); });
  return layout;
}

std::vector<LayerSummary> summarise(const NetworkConfig& config,
                                    const Layout& layout) {
  std::vector<LayerSummary> rows;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const LayerLayout& layer = layout.layers[i];
    LayerSummary row{.name = config.layers[i].name,
                     .type = std::string(config.layers[i].type->name),
                     .output = layer.output.shape,
                     .parameters = 0,
                     .flops = layer.flops};
    if (config.layers[i].shares) {
      rows.push_back(std::move(row));
      continue;
    }
    for (std::size_t s = layer.parameters_begin; s < layer.parameters_end; ++s)
      row.parameters += layout.parameters[s].elements();
    rows.push_back(std::move(row));
  }
  return rows;
}

const char* state_name(device::Updater kind, int index) {
  switch (kind) {
    case device::Updater::kAdam:
    case device::Updater::kAdamW:
    case device::Updater::kNadam:
      return index == 0 ? "m" : "v";
    case device::Updater::kAmsGrad:
      return index == 0 ? "m" : index == 1 ? "v" : "x";
    case device::Updater::kAdaMax:
      return index == 0 ? "m" : "n";
    case device::Updater::kAdaBelief:
      return index == 0 ? "m" : "s";
    case device::Updater::kAdaDelta:
      return index == 0 ? "d" : "s";
    case device::Updater::kNesterov:
    case device::Updater::kMomentum:
      return "v";
    case device::Updater::kAdaGrad:
      return "h";
    case device::Updater::kRmsProp:
      return "s";
    case device::Updater::kSgd:
    case device::Updater::kNone:
      break;
  }
  throw Error{Code::kBug, "internal error: an updater without state"};
}

}  // namespace dl::nn
