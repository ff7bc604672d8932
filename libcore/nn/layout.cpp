// Shape inference, and the order and names of parameters.

#include "libcore/nn/layout.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace dl::nn {
namespace {

// Adds segments and counts what they hold.
class Builder {
 public:
  Builder(const NetworkConfig& config, Layout& layout)
      : config_(config), layout_(layout) {}

  void add_layer(const Form& input);

 private:
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

  const NetworkConfig& config_;
  Layout& layout_;
};

void Builder::extend_state(const Segment& segment) {
  const Training& training = config().training;
  const UpdaterConfig& updater =
      segment.role == Role::kBias ? training.bias_updater : training.updater;
  auto& ranges = layout_.state;
  if (ranges.empty() || !(ranges.back().updater == updater))
    ranges.push_back(
        {.begin = segment.offset,
         .end = segment.offset,
         .per_parameter = tensor::state_per_parameter(updater.kind),
         .offset = layout_.state_count,
         .updater = updater});
  ranges.back().end += segment.elements();
  layout_.state_count += segment.elements() * ranges.back().per_parameter;
}

void Builder::add_layer(const Form& input) {
  Blueprint plan = config().type->plan(config().settings, {&input, 1});
  LayerLayout layer{.input = input.shape,
                    .output = plan.output.shape,
                    .input_steps = input.steps,
                    .output_steps = plan.output.steps,
                    .parameters_begin = layout_.parameters.size(),
                    .statistics_begin = layout_.statistics.size(),
                    .flops = plan.flops,
                    .summed = plan.summed};
  for (TensorSpec& tensor : plan.parameters) {
    append(layout_.parameters, layout_.parameter_count, std::move(tensor));
    extend_state(layout_.parameters.back());
  }
  for (TensorSpec& tensor : plan.statistics)
    append(layout_.statistics, layout_.statistics_count, std::move(tensor));
  check_size(layer.output, "its output");
  layer.parameters_end = layout_.parameters.size();
  layer.statistics_end = layout_.statistics.size();
  layout_.layers.push_back(layer);
}

}  // namespace

Layout layout_of(const NetworkConfig& config) {
  Layout layout;
  Builder builder(config, layout);
  check_size(config.input, "input.shape");
  // A network without recurrent layers takes [8, 8] as it always did.
  Form form{config.input,
            config.input.rank() == 2 &&
                std::any_of(config.layers.begin(), config.layers.end(),
                            [](const auto& l) { return l.type->recurrent; })};
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    try {
      builder.add_layer(form);
    } catch (Error& e) {
      e.add_context("layers[" + std::to_string(i) + "] ('" +
                    config.layers[i].name + "')");
      throw;
    }
    form = {layout.layers.back().output, layout.layers.back().output_steps};
  }
  return layout;
}

std::vector<LayerSummary> summarise(const NetworkConfig& config,
                                    const Layout& layout) {
  std::vector<LayerSummary> rows;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const LayerLayout& layer = layout.layers[i];
    LayerSummary row{.name = config.layers[i].name,
                     .type = std::string(config.layers[i].type->name),
                     .output = layer.output,
                     .parameters = 0,
                     .flops = layer.flops};
    for (std::size_t s = layer.parameters_begin; s < layer.parameters_end; ++s)
      row.parameters += layout.parameters[s].elements();
    rows.push_back(std::move(row));
  }
  return rows;
}

const char* state_name(tensor::Updater kind, int index) {
  switch (kind) {
    case tensor::Updater::kAdam:
    case tensor::Updater::kAdamW:
    case tensor::Updater::kNadam:
      return index == 0 ? "m" : "v";
    case tensor::Updater::kAmsGrad:
      return index == 0 ? "m" : index == 1 ? "v" : "x";
    case tensor::Updater::kAdaMax:
      return index == 0 ? "m" : "n";
    case tensor::Updater::kAdaBelief:
      return index == 0 ? "m" : "s";
    case tensor::Updater::kAdaDelta:
      return index == 0 ? "d" : "s";
    case tensor::Updater::kNesterov:
      return "v";
    case tensor::Updater::kAdaGrad:
      return "h";
    case tensor::Updater::kRmsProp:
      return "s";
    case tensor::Updater::kSgd:
    case tensor::Updater::kNone:
      break;
  }
  throw Error{Code::kBug, "internal error: an updater without state"};
}

}  // namespace dl::nn
