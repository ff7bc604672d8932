// Normalisations, and what is multiplied and added channel by channel.

#include <cmath>

#include "libcore/convert/export/onnx/layer.h"

namespace dl::convert {
namespace {

// Weight i of each channel, for values of that order.
std::string by_channel(OnnxLayer& layer, std::size_t i, bool first) {
  Ints shape(static_cast<std::size_t>(layer.output.shape.rank()), 1);
  (first ? shape.front() : shape.back()) = layer.output.shape.back();
  return layer.weight_as(i, first ? shape : Ints{});
}

// With channels first, as convolutions before it have them, it is the operator
// that runtimes fold into these; else a product and a sum.
void batch_norm(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const double epsilon = layer.settings.number("epsilon");
  const auto mean = layer.statistics(0), variance = layer.statistics(1),
             gamma = layer.values(0), beta = layer.values(1);
  const auto columns = static_cast<std::int64_t>(gamma.size());
  const std::string of = layer.name(0);
  if (layer.is_first()) {
    const auto held = [&](const char* what, std::span<const float> values) {
      return g.weight(of + what, {columns}, {values.begin(), values.end()});
    };
    return layer.give_first(
        g.node("BatchNormalization",
               {layer.x_first(), layer.weight(0), layer.weight(1),
                held(".mean", mean), held(".variance", variance)},
               {{"epsilon", epsilon}}));
  }
  std::vector<float> factor, offset;
  for (std::size_t i = 0; i < gamma.size(); ++i) {
    const double scale = gamma[i] / std::sqrt(variance[i] + epsilon);
    factor.push_back(static_cast<float>(scale));
    offset.push_back(static_cast<float>(beta[i] - mean[i] * scale));
  }
  const std::string scaled =
      g.node("Mul", {layer.x(), g.weight(of + ".factor", {columns}, factor)});
  layer.give(
      g.node("Add", {scaled, g.weight(of + ".offset", {columns}, offset)}));
}

void layer_norm(OnnxLayer& layer) {
  layer.give(layer.graph.node("LayerNormalization",
                              {layer.x(), layer.weight(0), layer.weight(1)},
                              {{"axis", std::int64_t{-1}},
                               {"epsilon", layer.settings.number("epsilon")}}));
}

// [batch, groups, numbers], each group normalized by itself.
std::string by_groups(OnnxLayer& layer, const std::string& x) {
  OnnxGraph& g = layer.graph;
  const std::int64_t groups = layer.settings.integer("groups");
  const Reals ones(static_cast<std::size_t>(groups), 1),
      zeros(static_cast<std::size_t>(groups), 0);
  return g.node("InstanceNormalization",
                {g.reshape(x, {0, groups, -1}), g.reals(ones, {groups}),
                 g.reals(zeros, {groups})},
                {{"epsilon", layer.settings.number("epsilon")}});
}

// ONNX has it from opset 18 on: here by its parts.
void group_norm(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const tensor::Shape& shape = layer.output.shape;
  const std::int64_t channels = shape.back();
  const auto finish = [&](const std::string& y, bool first) {
    return g.node("Add", {g.node("Mul", {y, by_channel(layer, 0, first)}),
                          by_channel(layer, 1, first)});
  };
  if (!layer.output.steps && shape.rank() > 1) {
    Ints back{0, channels};
    for (int k = 0; k + 1 < shape.rank(); ++k) back.push_back(shape[k]);
    return layer.give_first(
        finish(g.reshape(by_groups(layer, layer.x_first()), back), true));
  }
  // Each step is an example of its own.
  const std::int64_t steps = layer.output.steps ? shape[0] : 1,
                     rows = shape.elements() / steps / channels;
  std::string x = g.reshape(layer.x(), {-1, rows, channels});
  x = by_groups(layer, g.transpose(x, {0, 2, 1}));
  x = g.transpose(g.reshape(x, {0, channels, rows}), {0, 2, 1});
  layer.give(finish(g.reshape(x, batch_of(shape, -1)), false));
}

// Over channels of an image, which others are seen as.
void local_response_norm(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const std::int64_t window = layer.settings.integer("window");
  const OnnxAttributes attributes{
      {"size", window},
      {"alpha", layer.settings.number("alpha") * static_cast<double>(window)},
      {"beta", layer.settings.number("beta")},
      {"bias", layer.settings.number("k")}};
  const tensor::Shape& shape = layer.output.shape;
  if (shape.rank() == 3)
    return layer.give_first(g.node("LRN", {layer.x_first()}, attributes));
  const std::int64_t channels = shape.back();
  std::string x =
      g.reshape(layer.x(), {0, 1, shape.elements() / channels, channels});
  x = g.node("LRN", {g.transpose(x, {0, 3, 1, 2})}, attributes);
  layer.give(g.reshape(g.transpose(x, {0, 2, 3, 1}), batch_of(shape)));
}

void element_multiply(OnnxLayer& layer) {
  layer.give_in_order([&](bool first) {
    const std::string x = first ? layer.x_first() : layer.x();
    return layer.graph.node(
        "Add", {layer.graph.node("Mul", {x, by_channel(layer, 0, first)}),
                by_channel(layer, 1, first)});
  });
}

template <bool shifts>
void scale(OnnxLayer& layer) {
  const std::string amount =
      layer.graph.real(layer.settings.number(shifts ? "amount" : "factor"));
  layer.give_in_order([&](bool first) {
    return layer.graph.node(shifts ? "Add" : "Mul",
                            {first ? layer.x_first() : layer.x(), amount});
  });
}

void l2_normalize(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const std::string sum = g.reduce("ReduceSumSquare", layer.x(), {-1}, true);
  const std::string size = g.node(
      "Sqrt", {g.node("Add", {sum, g.real(layer.settings.number("epsilon"))})});
  layer.give(g.node("Div", {layer.x(), size}));
}

}  // namespace

std::span<const OnnxRule> onnx_norm() {
  static constexpr OnnxRule kRules[] = {
      {"batch_norm", batch_norm},
      {"layer_norm", layer_norm},
      {"group_norm", group_norm},
      {"local_response_norm", local_response_norm},
      {"element_multiply", element_multiply},
      {"scale", scale<false>},
      {"shift", scale<true>},
      {"l2_normalize", l2_normalize}};
  return kRules;
}

}  // namespace dl::convert
