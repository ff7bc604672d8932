// Shape inference, and the order and names of parameters.

#include "libcore/nn/layout.h"

#include <algorithm>
#include <optional>

#include "libcore/base/error.h"

namespace dl::nn {
namespace {

using tensor::Shape;

constexpr std::int64_t kMaxReals = std::int64_t{1} << 40;

// How a window lies over one axis.
struct Extent {
  std::int64_t out = 0, pad_begin = 0, pad_end = 0;
};

Extent place(std::int64_t in, std::int64_t kernel, std::int64_t stride,
             std::int64_t dilation, Padding padding) {
  const std::int64_t window = (kernel - 1) * dilation + 1;
  if (padding == Padding::kValid)
    return {window > in ? 0 : (in - window) / stride + 1, 0, 0};
  const std::int64_t out = (in + stride - 1) / stride;
  const std::int64_t pad =
      std::max<std::int64_t>(0, (out - 1) * stride + window - in);
  return {out, pad / 2, pad - pad / 2};
}

std::string by(std::int64_t a, std::int64_t b) {
  return std::to_string(a) + "x" + std::to_string(b);
}

[[noreturn]] void too_large(const char* what) {
  throw Error{Code::kConfig, std::string(what) + " has more than 2^40 numbers"};
}

std::int64_t checked_elements(std::span<const std::int64_t> extents,
                              const char* what) {
  std::int64_t n = 1;
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(n, extent, &n) || n > kMaxReals) too_large(what);
  return n;
}

std::int64_t checked_elements(const Shape& shape, const char* what) {
  return checked_elements(shape.extents(), what);
}

// Of numbers from a configuration, which may be of any size.
Shape checked_shape(std::initializer_list<std::int64_t> extents,
                    const char* what) {
  checked_elements({extents.begin(), extents.size()}, what);
  return Shape(extents);
}

void require_image(const Shape& input) {
  if (input.rank() == 3) return;
  throw Error{Code::kConfig,
              "wants an image [height, width, channels], its input is " +
                  input.to_string()};
}

// Output of a conv2d or pooling layer with `channels` of them.
Shape slide(const LayerConfig& layer, const Shape& input,
            std::int64_t channels) {
  require_image(input);
  std::int64_t out[2];
  for (int i = 0; i < 2; ++i)
    out[i] = place(input[i], layer.kernel[i], layer.stride[i],
                   layer.dilation[i], layer.padding)
                 .out;
  if (out[0] > 0 && out[1] > 0) return {out[0], out[1], channels};
  std::string kernel = "kernel " + by(layer.kernel[0], layer.kernel[1]);
  if (layer.dilation[0] != 1 || layer.dilation[1] != 1)
    kernel += ", dilated by " + by(layer.dilation[0], layer.dilation[1]) + ",";
  throw Error{Code::kConfig, kernel + " is larger than its input " +
                                 by(input[0], input[1]) + "x" +
                                 std::to_string(input[2])};
}

// Adds segments and counts what they hold.
class Builder {
 public:
  Builder(const NetworkConfig& config, Layout& layout)
      : config_(config), layout_(layout) {}

  void parameter(const std::string& name, Role role, Shape shape,
                 std::int64_t fan_in = 0, std::int64_t fan_out = 0) {
    append(layout_.parameters, layout_.parameter_count, name, role, shape);
    layout_.parameters.back().fan_in = fan_in;
    layout_.parameters.back().fan_out = fan_out;
    extend_state(layout_.parameters.back());
  }
  void statistic(const char* name, Role role, Shape shape) {
    append(layout_.statistics, layout_.statistics_count, name, role, shape);
  }
  // steps: the input is a sequence.
  void add_layer(const Shape& input, bool steps);

 private:
  const LayerConfig& config() const {
    return config_.layers[layout_.layers.size()];
  }
  void append(std::vector<Segment>& to, std::int64_t& count,
              const std::string& name, Role role, Shape shape) {
    const std::int64_t elements = checked_elements(shape, name.c_str());
    to.push_back({.name = config().name + "/" + name,
                  .shape = shape,
                  .offset = count,
                  .role = role,
                  .layer = layout_.layers.size()});
    count += elements;
    if (count > kMaxReals) too_large("the network");
  }
  void extend_state(const Segment& segment);
  void add_dense(LayerLayout& layer);
  void add_conv2d(LayerLayout& layer);
  void add_batch_norm(LayerLayout& layer);
  void add_recurrent(LayerLayout& layer);

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

void Builder::add_dense(LayerLayout& layer) {
  const std::int64_t steps = layer.input_steps ? layer.input[0] : 1;
  const std::int64_t inputs =
      layer.input_steps ? layer.input[1] : layer.input.elements();
  const std::int64_t units = config().units;
  parameter("weight", Role::kWeight, checked_shape({units, inputs}, "weight"),
            inputs, units);
  if (config().bias) parameter("bias", Role::kBias, {units});
  layer.output = layer.input_steps ? Shape{steps, units} : Shape{units};
  layer.flops = static_cast<double>(steps) * static_cast<double>(units) *
                (2.0 * static_cast<double>(inputs) + (config().bias ? 1 : 0));
}

void Builder::add_conv2d(LayerLayout& layer) {
  const LayerConfig& conv = config();
  layer.output = slide(conv, layer.input, conv.filters);
  const std::int64_t channels = layer.input[2];
  const std::int64_t window = conv.kernel[0] * conv.kernel[1];
  const Shape weight = checked_shape(
      {conv.filters, conv.kernel[0], conv.kernel[1], channels}, "weight");
  parameter("weight", Role::kWeight, weight, channels * window,
            conv.filters * window / (conv.stride[0] * conv.stride[1]));
  if (conv.bias) parameter("bias", Role::kBias, {conv.filters});
  layer.flops = static_cast<double>(checked_elements(layer.output, "output")) *
                (2.0 * static_cast<double>(channels * window) + conv.bias);
}

void Builder::add_batch_norm(LayerLayout& layer) {
  const Shape columns{layer.input.back()};
  parameter("gamma", Role::kGamma, columns);
  parameter("beta", Role::kBeta, columns);
  statistic("running_mean", Role::kMean, columns);
  statistic("running_variance", Role::kVariance, columns);
  layer.flops = 2.0 * static_cast<double>(layer.input.elements());
}

void Builder::add_recurrent(LayerLayout& layer) {
  const LayerConfig& c = config();
  if (layer.input.rank() != 2)
    throw Error{Code::kConfig,
                "wants a sequence [steps, features], its input is " +
                    layer.input.to_string() +
                    "; a recurrent layer before it gives one with "
                    "\"return_sequences\": true"};
  const tensor::RecurrentSpec spec = recurrent_spec(c, layer.input);
  const std::int64_t rows = spec.gates() * spec.units;
  // Deeplearning4j's fans: those of all that goes into a unit.
  const bool simple = spec.cell == tensor::Cell::kSimple;
  const std::int64_t in = simple ? spec.inputs : spec.units;
  const std::int64_t out = simple ? spec.units : spec.inputs + spec.units;
  const bool both = c.bidirectional != Bidirectional::kNone;
  const auto add_direction = [&](const std::string& prefix) {
    parameter(prefix + "weight", Role::kWeight,
              checked_shape({rows, spec.inputs}, "weight"), in, out);
    parameter(prefix + "recurrent_weight", Role::kWeight,
              checked_shape({rows, spec.units}, "recurrent_weight"), spec.units,
              out);
    layout_.parameters.back().recurrent = true;
    if (c.bias) parameter(prefix + "bias", Role::kBias, {spec.biases()});
  };
  add_direction("");
  if (both) add_direction("backward_");
  const std::int64_t width =
      c.bidirectional == Bidirectional::kConcat ? 2 * spec.units : spec.units;
  layer.output_steps = c.return_sequences;
  layer.output = c.return_sequences ? Shape{spec.steps, width} : Shape{width};
  layer.flops = (both ? 4.0 : 2.0) * static_cast<double>(spec.steps) *
                static_cast<double>(rows) *
                static_cast<double>(spec.inputs + spec.units);
}

void Builder::add_layer(const Shape& input, bool steps) {
  const LayerConfig& c = config();
  LayerLayout layer;
  layer.input = layer.output = input;
  layer.input_steps = layer.output_steps = steps;
  layer.parameters_begin = layout_.parameters.size();
  layer.statistics_begin = layout_.statistics.size();
  switch (c.type) {
    case LayerType::kDense:
    case LayerType::kOutput:
      add_dense(layer);
      break;
    case LayerType::kConv2d:
      add_conv2d(layer);
      break;
    case LayerType::kMaxPool2d:
    case LayerType::kAveragePool2d:
      layer.output = slide(c, input, input.rank() == 3 ? input[2] : 0);
      layer.flops = static_cast<double>(c.kernel[0]) *
                    static_cast<double>(c.kernel[1]) *
                    static_cast<double>(layer.output.elements());
      break;
    case LayerType::kBatchNorm:
      add_batch_norm(layer);
      break;
    case LayerType::kFlatten:
      layer.output = {input.elements()};
      layer.output_steps = false;
      break;
    case LayerType::kLstm:
    case LayerType::kGru:
    case LayerType::kSimpleRnn:
      add_recurrent(layer);
      break;
    case LayerType::kDropout:
    case LayerType::kActivation:
      break;
  }
  const std::int64_t outputs = checked_elements(layer.output, "its output");
  if (c.activation.kind != tensor::Activation::kIdentity)
    layer.flops += static_cast<double>(outputs);
  layer.parameters_end = layout_.parameters.size();
  layer.statistics_end = layout_.statistics.size();
  layout_.layers.push_back(layer);
}

}  // namespace

Layout layout_of(const NetworkConfig& config) {
  Layout layout;
  Builder builder(config, layout);
  Shape shape = config.input;
  checked_elements(shape, "input.shape");
  // A network without recurrent layers takes [8, 8] as it always did.
  bool steps = shape.rank() == 2 &&
               std::any_of(config.layers.begin(), config.layers.end(),
                           [](const auto& l) { return is_recurrent(l.type); });
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    try {
      builder.add_layer(shape, steps);
    } catch (Error& e) {
      e.add_context("layers[" + std::to_string(i) + "] ('" +
                    config.layers[i].name + "')");
      throw;
    }
    shape = layout.layers.back().output;
    steps = layout.layers.back().output_steps;
  }
  return layout;
}

std::vector<LayerSummary> summarise(const NetworkConfig& config,
                                    const Layout& layout) {
  std::vector<LayerSummary> rows;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const LayerLayout& layer = layout.layers[i];
    LayerSummary row{.name = config.layers[i].name,
                     .type = std::string(name_of(config.layers[i].type)),
                     .output = layer.output,
                     .parameters = 0,
                     .flops = layer.flops};
    for (std::size_t s = layer.parameters_begin; s < layer.parameters_end; ++s)
      row.parameters += layout.parameters[s].elements();
    rows.push_back(std::move(row));
  }
  return rows;
}

tensor::Conv2dSpec conv2d_spec(const LayerConfig& layer, const Shape& input) {
  tensor::Conv2dSpec spec{.height = input[0],
                          .width = input[1],
                          .channels = input[2],
                          .filters = layer.filters};
  for (int i = 0; i < 2; ++i) {
    const Extent e = place(input[i], layer.kernel[i], layer.stride[i],
                           layer.dilation[i], layer.padding);
    spec.kernel[i] = layer.kernel[i];
    spec.stride[i] = layer.stride[i];
    spec.dilation[i] = layer.dilation[i];
    spec.pad_begin[i] = e.pad_begin;
    spec.pad_end[i] = e.pad_end;
  }
  return spec;
}

tensor::Pool2dSpec pool2d_spec(const LayerConfig& layer, const Shape& input) {
  tensor::Pool2dSpec spec{.kind = layer.type == LayerType::kAveragePool2d
                                      ? tensor::Pooling::kAverage
                                      : tensor::Pooling::kMax,
                          .height = input[0],
                          .width = input[1],
                          .channels = input[2]};
  for (int i = 0; i < 2; ++i) {
    const Extent e =
        place(input[i], layer.kernel[i], layer.stride[i], 1, layer.padding);
    spec.kernel[i] = layer.kernel[i];
    spec.stride[i] = layer.stride[i];
    spec.pad_begin[i] = e.pad_begin;
    spec.pad_end[i] = e.pad_end;
  }
  return spec;
}

tensor::RecurrentSpec recurrent_spec(const LayerConfig& layer,
                                     const Shape& input) {
  return {.cell = layer.type == LayerType::kLstm  ? tensor::Cell::kLstm
                  : layer.type == LayerType::kGru ? tensor::Cell::kGru
                                                  : tensor::Cell::kSimple,
          .steps = input[0],
          .inputs = input[1],
          .units = layer.units,
          .activation = layer.activation.kind,
          .gate_activation = layer.gate_activation.kind,
          .last = !layer.return_sequences};
}

bool is_recurrent(LayerType type) {
  return type == LayerType::kLstm || type == LayerType::kGru ||
         type == LayerType::kSimpleRnn;
}

const char* state_name(tensor::Updater kind, int index) {
  switch (kind) {
    case tensor::Updater::kAdam:
      return index == 0 ? "m" : "v";
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
