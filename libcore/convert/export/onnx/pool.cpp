// Pooling by windows, and over all places.

#include "libcore/convert/export/onnx/layer.h"
#include "libcore/convert/export/onnx/window.h"

namespace dl::convert {
namespace {

// Less than all that counts; what is left of it is replaced by 0.
constexpr double kLeast = -1e30;

void max_pool(OnnxLayer& layer) {
  layer.give_first(layer.graph.node("MaxPool", {layer.x_first()},
                                    window_of(layer).attributes()));
}

void average_pool(OnnxLayer& layer) {
  OnnxAttributes attributes = window_of(layer).attributes();
  const bool counts = layer.is_on("count_padding");
  attributes.emplace_back("count_include_pad", std::int64_t{counts});
  layer.give_first(
      layer.graph.node("AveragePool", {layer.x_first()}, attributes));
}

std::string power(OnnxGraph& g, const std::string& x, double p) {
  return g.node("Pow", {x, g.real(p)});
}

// LpPool of ONNX has whole exponents alone.
void pnorm_pool(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const double p = layer.settings.number("p");
  const OnnxWindow window = window_of(layer);
  OnnxAttributes attributes = window.attributes();
  attributes.emplace_back("count_include_pad", std::int64_t{1});
  double points = 1;
  for (const std::int64_t extent : window.kernel)
    points *= static_cast<double>(extent);
  const std::string mean =
      g.node("AveragePool", {power(g, g.node("Abs", {layer.x_first()}), p)},
             attributes);
  layer.give_first(power(g, g.node("Mul", {mean, g.real(points)}), 1 / p));
}

// [batch, steps] for [batch, channels, steps].
std::string for_channels(OnnxGraph& g, const std::string& mask) {
  return g.node("Unsqueeze", {mask, g.ints({1})});
}

void max_pool1d(OnnxLayer& layer) {
  if (layer.mask().empty()) return max_pool(layer);
  OnnxGraph& g = layer.graph;
  const OnnxWindow window = window_of(layer);
  const std::string counts =
      g.node("Greater", {for_channels(g, layer.mask()), g.real(0)});
  const std::string x =
      g.node("Where", {counts, layer.x_first(), g.real(kLeast)});
  const std::string any = any_of_windows(layer, window);
  const std::string y = g.node("MaxPool", {x}, window.attributes());
  layer.give_first(g.node(
      "Where",
      {g.node("Greater", {for_channels(g, any), g.real(0)}), y, g.real(0)}));
  layer.give_mask(any);
}

void average_pool1d(OnnxLayer& layer) {
  if (layer.mask().empty()) return average_pool(layer);
  OnnxGraph& g = layer.graph;
  const OnnxWindow window = window_of(layer);
  const std::string x = clear_steps(g, layer.x_first(), layer.mask(), 2, true);
  const std::string y = g.node("AveragePool", {x}, window.attributes());
  const std::string any = any_of_windows(layer, window);
  // The sum of a window without real steps is 0, and stays so.
  const std::string share = g.node("Add", {share_of_windows(layer, window),
                                           g.node("Sub", {g.real(1), any})});
  layer.give_first(g.node("Div", {y, for_channels(g, share)}));
  layer.give_mask(any);
}

// Pools the real steps of rows [batch, steps, channels].
std::string pooled(OnnxLayer& layer, const std::string& x,
                   const std::string& kind, const Ints& axes) {
  OnnxGraph& g = layer.graph;
  if (kind == "max") return g.reduce("ReduceMax", x, axes, false);
  if (kind == "average") return g.reduce("ReduceMean", x, axes, false);
  if (kind == "sum") return g.reduce("ReduceSum", x, axes, false);
  const double p = layer.settings.number("p");
  return power(
      g, g.reduce("ReduceSum", power(g, g.node("Abs", {x}), p), axes, false),
      1 / p);
}

void global_pool_masked(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const std::string kind = layer.settings.text("kind");
  const std::string mask = g.node("Unsqueeze", {layer.mask(), g.ints({2})});
  const std::string counts = g.node("Greater", {mask, g.real(0)});
  const std::string some =
      g.reduce("ReduceSum", layer.mask(), {1}, true);  // [batch, 1]
  const std::string x =
      g.node("Where", {counts, layer.x(), g.real(kind == "max" ? kLeast : 0)});
  if (kind == "max")
    return layer.give(
        g.node("Where", {g.node("Greater", {some, g.real(0)}),
                         pooled(layer, x, "max", {1}), g.real(0)}));
  const bool mean = kind == "average";
  const std::string y = pooled(layer, x, mean ? "sum" : kind, {1});
  layer.give(mean ? g.node("Div", {y, g.node("Max", {some, g.real(1)})}) : y);
}

void global_pool(OnnxLayer& layer) {
  if (!layer.mask().empty()) return global_pool_masked(layer);
  const bool first = layer.is_first();
  Ints axes;
  for (int k = 1; k < layer.inputs[0].shape.rank(); ++k)
    axes.push_back(first ? k + 1 : k);
  layer.give(pooled(layer, first ? layer.x_first() : layer.x(),
                    layer.settings.text("kind"), axes));
}

}  // namespace

std::span<const OnnxRule> onnx_pool() {
  static constexpr OnnxRule kRules[] = {
      {"max_pool1d", max_pool1d},       {"max_pool2d", max_pool},
      {"max_pool3d", max_pool},         {"average_pool1d", average_pool1d},
      {"average_pool2d", average_pool}, {"average_pool3d", average_pool},
      {"pnorm_pool2d", pnorm_pool},     {"global_pool", global_pool}};
  return kRules;
}

}  // namespace dl::convert
