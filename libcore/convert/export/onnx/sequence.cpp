// Sequences and their masks.

#include <limits>

#include "libcore/convert/export/onnx/layer.h"

namespace dl::convert {
namespace {

// 0, 1, 2 ... steps - 1, [1, steps].
std::string numbered(OnnxGraph& g, std::int64_t steps) {
  Reals all;
  for (std::int64_t t = 0; t < steps; ++t)
    all.push_back(static_cast<double>(t));
  return g.reals(all, {1, steps});
}

void last_step(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const std::int64_t steps = layer.inputs[0].shape[0],
                     features = layer.inputs[0].shape[1];
  if (layer.mask().empty())
    return layer.give(g.node(
        "Squeeze", {g.slice(layer.x(), 1, steps - 1, steps), g.ints({1})}));
  // The largest of those that count; 0 where none does.
  const std::string last =
      g.reduce("ReduceMax", g.node("Mul", {layer.mask(), numbered(g, steps)}),
               {1}, true);
  layer.give(g.node(
      "Squeeze",
      {take_steps(g, layer.x(), g.cast(last, OnnxType::kInt64), features),
       g.ints({1})}));
}

// For each step the last real one up to it; itself where there is none.
void hold(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  if (layer.mask().empty()) return layer.give(layer.x());
  const std::int64_t steps = layer.inputs[0].shape[0],
                     features = layer.inputs[0].shape[1];
  const OnnxSteps which = onnx_steps(g, layer.mask(), steps);
  const std::string so_far =
      g.cast(g.node("CumSum", {layer.mask(), g.integer(1)}), OnnxType::kInt64);
  const std::string last = g.node(
      "GatherElements",
      {which.order,
       g.node("Max", {g.node("Sub", {so_far, g.ints({1})}), g.ints({0})})},
      {{"axis", std::int64_t{1}}});
  const std::string own = g.cast(numbered(g, steps), OnnxType::kInt64);
  const std::string some = g.node("Greater", {so_far, g.ints({0})});
  layer.give(
      take_steps(g, layer.x(), g.node("Where", {some, last, own}), features));
}

std::string turned(OnnxGraph& g, const std::string& x) {
  return g.slice(x, 1, -1, std::numeric_limits<std::int64_t>::min(), -1);
}

void reverse(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const std::string turns =
      layer.settings.has("turns") ? layer.settings.text("turns") : "counted";
  if (turns != "counted") {
    if (!layer.mask().empty()) layer.give_mask(turned(g, layer.mask()));
    return layer.give(turns == "all" ? turned(g, layer.x()) : layer.x());
  }
  const std::int64_t steps = layer.inputs[0].shape[0],
                     features = layer.inputs[0].shape[1];
  if (layer.mask().empty()) return layer.give(turned(g, layer.x()));
  // The real step with the same number of real ones behind it.
  const OnnxSteps which = onnx_steps(g, layer.mask(), steps);
  const std::string behind = g.node(
      "Sub",
      {g.node("Sub", {g.cast(which.count, OnnxType::kInt64), which.rank}),
       g.ints({1})});
  const std::string other = g.node(
      "GatherElements", {which.order, g.node("Max", {behind, g.ints({0})})},
      {{"axis", std::int64_t{1}}});
  const std::string own = g.cast(numbered(g, steps), OnnxType::kInt64);
  const std::string counts = g.node("Greater", {layer.mask(), g.real(0)});
  layer.give(take_steps(g, layer.x(), g.node("Where", {counts, other, own}),
                        features));
}

// Behind an input of the network the value is one of the data.
void masking(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const std::string looked_at =
      layer.stored().empty() ? layer.x() : layer.stored();
  const std::string same =
      g.node("Equal", {looked_at, g.real(layer.settings.number("value"))});
  const std::string differs = g.cast(g.node("Not", {same}), OnnxType::kFloat);
  const std::string own = g.reduce("ReduceMax", differs, {2}, false);
  const std::string all =
      layer.mask().empty() ? own : g.node("Mul", {own, layer.mask()});
  layer.give_mask(all);
  const bool clears =
      layer.settings.has("clears") && layer.settings.flag("clears");
  layer.give(clears ? clear_steps(g, layer.x(), all, 2, false) : layer.x());
}

std::string tiled(OnnxLayer& layer, std::int64_t steps) {
  OnnxGraph& g = layer.graph;
  return g.node("Tile", {g.node("Unsqueeze", {layer.x(), g.ints({1})}),
                         g.ints({1, steps, 1})});
}

void repeat(OnnxLayer& layer) {
  layer.give(tiled(layer, layer.output.shape[0]));
}

}  // namespace

OnnxSteps onnx_steps(OnnxGraph& g, const std::string& mask,
                     std::int64_t steps) {
  // The largest come first: of those that count, then of the others, the
  // earliest.
  const std::string score =
      g.node("Sub", {g.node("Mul", {mask, g.real(static_cast<double>(steps))}),
                     numbered(g, steps)});
  OnnxSteps which;
  which.order = g.node_of("TopK", {score, g.ints({steps})},
                          {{"axis", std::int64_t{1}}}, 2)[1];
  const std::string before =
      g.node("CumSum", {mask, g.integer(1)}, {{"exclusive", std::int64_t{1}}});
  // Any index, for a padding step.
  which.rank =
      g.cast(g.node("Min", {before, g.real(static_cast<double>(steps - 1))}),
             OnnxType::kInt64);
  which.count = g.reduce("ReduceSum", mask, {1}, true);
  return which;
}

std::string take_steps(OnnxGraph& g, const std::string& x,
                       const std::string& steps, std::int64_t features) {
  const std::string each = g.node(
      "Expand",
      {g.node("Unsqueeze", {steps, g.ints({2})}), g.ints({1, 1, features})});
  return g.node("GatherElements", {x, each}, {{"axis", std::int64_t{1}}});
}

std::string clear_steps(OnnxGraph& g, const std::string& x,
                        const std::string& mask, int rank, bool first) {
  if (mask.empty()) return x;
  Ints axes;
  if (first) axes.push_back(1);
  for (int k = first ? 3 : 2; k <= rank; ++k) axes.push_back(k);
  return g.node("Mul", {x, g.node("Unsqueeze", {mask, g.ints(axes)})});
}

std::span<const OnnxRule> onnx_sequence() {
  static constexpr OnnxRule kRules[] = {
      {"last_step", last_step}, {"reverse", reverse}, {"hold", hold},
      {"masking", masking},     {"repeat", repeat},   {"repeat_like", repeat}};
  return kRules;
}

}  // namespace dl::convert
