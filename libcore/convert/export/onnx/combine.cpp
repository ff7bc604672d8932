// Several values as one: number by number, side by side, or one behind the
// other.

#include "libcore/convert/export/onnx/layer.h"

namespace dl::convert {
namespace {

std::vector<std::string> all_of(OnnxLayer& layer, bool first) {
  std::vector<std::string> all;
  all.reserve(layer.inputs.size());
  for (std::size_t i = 0; i < layer.inputs.size(); ++i)
    all.push_back(first ? layer.x_first(i) : layer.x(i));
  return all;
}

void each(OnnxLayer& layer, const char* type) {
  layer.give_in_order(
      [&](bool first) { return layer.graph.node(type, all_of(layer, first)); });
}

void add(OnnxLayer& layer) {
  each(layer, layer.inputs.size() == 2 ? "Add" : "Sum");
}
void average(OnnxLayer& layer) { each(layer, "Mean"); }
void max(OnnxLayer& layer) { each(layer, "Max"); }
void min(OnnxLayer& layer) { each(layer, "Min"); }
void subtract(OnnxLayer& layer) { each(layer, "Sub"); }

void multiply(OnnxLayer& layer) {
  layer.give_in_order([&](bool first) {
    const auto all = all_of(layer, first);
    std::string product = all[0];
    for (std::size_t i = 1; i < all.size(); ++i)
      product = layer.graph.node("Mul", {product, all[i]});
    return product;
  });
}

void merge(OnnxLayer& layer) {
  const int rank = layer.output.shape.rank();
  std::int64_t axis = layer.settings.integer("axis");
  if (axis < 0) axis += rank;
  layer.give_in_order([&](bool first) {
    const std::int64_t at = !first ? axis + 1 : axis == rank - 1 ? 1 : axis + 2;
    return layer.graph.node("Concat", all_of(layer, first), {{"axis", at}});
  });
}

void dot(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  layer.give(
      g.reduce("ReduceSum", g.node("Mul", all_of(layer, false)), {-1}, true));
}

void l2_distance(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const std::string sum = g.reduce(
      "ReduceSumSquare", g.node("Sub", all_of(layer, false)), {-1}, true);
  layer.give(
      g.node("Sqrt",
             {g.node("Add", {sum, g.real(layer.settings.number("epsilon"))})}));
}

// Masks of those that have none are ones, [batch, steps].
std::string ones_for(OnnxLayer& layer, std::size_t i) {
  OnnxGraph& g = layer.graph;
  Ints axes;
  for (int k = 2; k <= layer.inputs[i].shape.rank(); ++k) axes.push_back(k);
  const std::string x = g.reduce("ReduceMax", layer.x(i), axes, false);
  return g.node("Add", {g.node("Mul", {x, g.real(0)}), g.real(1)});
}

void stack(OnnxLayer& layer) {
  const OnnxAttributes axis{{"axis", std::int64_t{0}}};
  layer.give_in_order([&](bool first) {
    return layer.graph.node("Concat", all_of(layer, first), axis);
  });
  if (!layer.output.steps) return;
  bool any = false;
  for (std::size_t i = 0; i < layer.inputs.size(); ++i)
    any = any || !layer.mask(i).empty();
  if (!any) return;
  std::vector<std::string> masks;
  masks.reserve(layer.inputs.size());
  for (std::size_t i = 0; i < layer.inputs.size(); ++i)
    masks.push_back(layer.mask(i).empty() ? ones_for(layer, i) : layer.mask(i));
  layer.give_mask(layer.graph.node("Concat", masks, axis));
}

// Part `index` of x [of * batch, ...shape].
std::string part(OnnxLayer& layer, const std::string& x, Ints shape) {
  OnnxGraph& g = layer.graph;
  const std::int64_t index = layer.settings.integer("index"),
                     of = layer.settings.has("of")
                              ? layer.settings.integer("of")
                              : layer.inputs[0].copies;
  shape.insert(shape.begin(), {of, -1});
  return g.node("Squeeze", {g.slice(g.reshape(x, shape), 0, index, index + 1),
                            g.ints({0})});
}

void unstack(OnnxLayer& layer) {
  const auto own = layer.output.shape.extents();
  layer.give(part(layer, layer.x(), {own.begin(), own.end()}));
  if (!layer.mask().empty() && layer.output.steps)
    layer.give_mask(part(layer, layer.mask(), {own[0]}));
}

}  // namespace

std::span<const OnnxRule> onnx_combine() {
  static constexpr OnnxRule kRules[] = {{"add", add},
                                        {"average", average},
                                        {"max", max},
                                        {"min", min},
                                        {"subtract", subtract},
                                        {"multiply", multiply},
                                        {"merge", merge},
                                        {"dot", dot},
                                        {"stack", stack},
                                        {"unstack", unstack},
                                        {"l2_distance", l2_distance}};
  return kRules;
}

}  // namespace dl::convert
