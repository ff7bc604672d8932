// Layers that are a product with a weight, activations, and what outside
// training does nothing.

#include "libcore/convert/export/onnx/layer.h"
#include "libcore/nn/layers/parts/gaussian_output.h"

namespace dl::convert {
namespace {

// W x + b [.., units], with the rows of a sequence by themselves.
std::string product(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const nn::ValueSpec& input = layer.inputs[0];
  const bool tied = layer.config.tied_to.has_value();
  const std::string bias =
      layer.settings.flag("bias") ? layer.weight(1) : std::string();
  const std::int64_t steps = input.steps ? input.shape[0] : 1;
  const std::int64_t columns = input.shape.elements() / steps;
  if (!input.steps) {
    std::string x = layer.x();
    if (input.shape.rank() != 1) x = g.reshape(x, {0, columns});
    return g.node("Gemm", {x, layer.weight(0), bias},
                  {{"transB", std::int64_t{!tied}}});
  }
  std::string x = layer.x();
  if (input.shape.rank() != 2) x = g.reshape(x, {0, steps, columns});
  const std::string y = g.node(
      "MatMul", {x, tied ? layer.weight(0) : layer.turned_weight(0, {1, 0})});
  return bias.empty() ? y : g.node("Add", {y, bias});
}

void dense(OnnxLayer& layer) { give_activated(layer, product(layer), false); }

// The loss gaussian has means and variances; outputs are the means.
std::string means(OnnxLayer& layer, const std::string& both) {
  return layer.graph.slice(both, -1, 0, layer.settings.integer("units"));
}

void output(OnnxLayer& layer) {
  dense(layer);
  if (nn::layers::is_gaussian(layer.settings))
    layer.give(means(layer, layer.given().last));
}

void activation(OnnxLayer& layer) {
  const bool first = layer.is_first();
  give_activated(layer, first ? layer.x_first() : layer.x(), first);
}

void loss(OnnxLayer& layer) {
  if (!nn::layers::is_gaussian(layer.settings)) return activation(layer);
  give_activated(layer, layer.x(), false);
  layer.give(means(layer, layer.given().last));
}

void rrelu(OnnxLayer& layer) {
  const double slope =
      (layer.settings.number("lower") + layer.settings.number("upper")) / 2;
  layer.give_unary("LeakyRelu", {{"alpha", slope}});
}

void prelu(OnnxLayer& layer) {
  const bool each = layer.settings.text("slopes") == "element";
  if (each || !layer.is_first())
    return layer.give(layer.graph.node("PRelu", {layer.x(), layer.weight(0)}));
  Ints shape(static_cast<std::size_t>(layer.output.shape.rank()), 1);
  shape[0] = layer.output.shape.back();
  layer.give_first(
      layer.graph.node("PRelu", {layer.x_first(), layer.weight_as(0, shape)}));
}

// The first half, the means; so often as codes are drawn in training.
void gaussian_latent(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const nn::ValueSpec& input = layer.inputs[0];
  std::string x = layer.x();
  if (input.shape.rank() != 1) x = g.reshape(x, {0, input.shape.elements()});
  const std::string mean = g.slice(x, 1, 0, layer.output.shape[0]);
  const auto samples =
      static_cast<std::size_t>(layer.settings.integer("samples"));
  layer.give(samples == 1
                 ? mean
                 : g.node("Concat", std::vector<std::string>(samples, mean),
                          {{"axis", std::int64_t{0}}}));
}

}  // namespace

std::span<const OnnxRule> onnx_dense() {
  static constexpr OnnxRule kRules[] = {{"dense", dense},
                                        {"autoencoder", dense},
                                        {"output", output},
                                        {"center_loss", dense},
                                        {"loss", loss},
                                        {"activation", activation},
                                        {"rrelu", rrelu},
                                        {"prelu", prelu},
                                        {"gaussian_latent", gaussian_latent}};
  return kRules;
}

}  // namespace dl::convert
