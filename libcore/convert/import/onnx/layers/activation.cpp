// Activations, and what does nothing outside training.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "libcore/convert/import/onnx/numbers.h"
#include "libcore/convert/import/onnx/older.h"
#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {
namespace {

bool is(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

// Operators without a parameter.
const std::map<std::string, const char*>& plain_names() {
  static const std::map<std::string, const char*> all = {
      {"Relu", "relu"},
      {"Sigmoid", "sigmoid"},
      {"Tanh", "tanh"},
      {"Softplus", "softplus"},
      {"Softsign", "softsign"},
      {"Mish", "mish"},
      {"Exp", "exp"},
      {"Cube", "cube"},
      {"RationalTanh", "rational_tanh"},
      {"RectifiedTanh", "rectified_tanh"}};
  return all;
}

// A bound of Clip: an input of newer opsets, an attribute of older ones.
double clip_bound(const Site& site, std::size_t i, const char* key,
                  double open) {
  if (site.has(i)) return site.known(i, key).at(0);
  return site.node().number(key, open);
}

std::optional<Json> clip(const Site& site) {
  const double low = clip_bound(site, 1, "min", -INFINITY),
               high = clip_bound(site, 2, "max", INFINITY);
  if (low == 0 && !(high < 1e30)) return "relu";
  if (low == 0 && high == 6) return "relu6";
  if (low == -1 && high == 1) return "hard_tanh";
  if (low == 0 && high > 0) return Json{{"type", "capped_relu"}, {"max", high}};
  return std::nullopt;
}

// Opset 1 has fewer digits.
double selu_alpha(const Node& node) {
  return node.number("alpha", node.opset < 6 ? 1.6732F : 1.67326319F);
}
double selu_gamma(const Node& node) {
  return node.number("gamma", node.opset < 6 ? 1.0507F : 1.05070102F);
}

std::optional<Json> with_parameter(const Site& site) {
  const Node& node = site.node();
  const std::string& op = node.op;
  if (op == "LeakyRelu")
    return Json{{"type", "leaky_relu"}, {"alpha", node.number("alpha", 0.01)}};
  if (op == "Elu" || (op == "Celu" && node.number("alpha", 1) == 1))
    return Json{{"type", "elu"}, {"alpha", node.number("alpha", 1)}};
  if (op == "ThresholdedRelu")
    return Json{{"type", "thresholded_relu"},
                {"theta", node.number("alpha", 1)}};
  if (op == "Selu") {
    const bool usual =
        is(selu_alpha(node), 1.67326324) && is(selu_gamma(node), 1.05070098);
    return usual ? std::optional<Json>("selu") : std::nullopt;
  }
  if (op == "HardSigmoid") {
    if (!is(node.number("beta", 0.5), 0.5)) return std::nullopt;
    return Json{{"type", "hard_sigmoid"}, {"slope", node.number("alpha", 0.2)}};
  }
  if (op == "Gelu")
    return node.text("approximate", "none") == "tanh"
               ? Json{{"type", "gelu"}, {"approximate", true}}
               : Json("gelu");
  if (op == "Swish") {
    const double beta = node.number("beta", node.number("alpha", 1));
    return beta == 1 ? Json("swish") : Json{{"type", "swish"}, {"beta", beta}};
  }
  if (op == "CappedRelu")
    return Json{{"type", "capped_relu"},
                {"threshold", node.number("threshold", 0)},
                {"negative_slope", node.number("slope", 0)},
                {"max", node.number("limit", 0)}};
  if (op == "Clip") return clip(site);
  return std::nullopt;
}

bool is_softmax(const Node& node) {
  return node.op == "Softmax" || node.op == "LogSoftmax";
}

Flow activated(Site& site, const Flow& flow, const Json& activation) {
  Flow made = flow;
  made.linear = nullptr;
  static_cast<Value&>(made) = site.add(
      "", {{"type", "activation"}, {"activation", activation}}, {flow});
  made.positive = is_positive(activation);
  return made;
}

void activation(Site& site) {
  const Flow flow = site.real(site.flow(0));
  const auto found = activation_of(site.import(), site.node());
  if (!found)
    site.refuse(
        "its parameters are those of no activation that there is; see "
        "dl-network(5), ACTIVATIONS");
  site.give(activated(site, flow, *found));
}

// Along one axis; up to opset 12 along all that follow it, as one.
void softmax(Site& site) {
  const Node& node = site.node();
  Flow flow = site.flow(0);
  const auto axis = softmax_axis(node, flow.axes.size());
  if (!axis) site.refuse("its axis is none of its input's");
  if (flow.attention && flow.attention->stage == Attention::Stage::kScores &&
      node.op == "Softmax" && flow.axes[*axis] == Axis{2}) {
    Attention next = *flow.attention;
    next.stage = Attention::Stage::kWeights;
    flow.attention = std::make_shared<const Attention>(std::move(next));
    return site.give(std::move(flow));
  }
  const Sizes shape = site.shape(flow);
  const bool several = joins_axes(node) && *axis + 1 < shape.size();
  if (several) {
    const auto first = shape.begin() + static_cast<std::ptrdiff_t>(*axis);
    Sizes joined(shape.begin(), first);
    joined.push_back(std::accumulate(first, shape.end(), std::int64_t{1},
                                     std::multiplies<>()));
    flow = site.regrouped(site.real(flow), joined);
  }
  flow = site.with_last(flow, *axis);
  flow =
      activated(site, flow, node.op == "Softmax" ? "softmax" : "log_softmax");
  site.give(several ? site.regrouped(flow, shape) : std::move(flow));
}

// gamma x above 0, and gamma alpha (exp(x) - 1) below.
void selu(Site& site) {
  const Node& node = site.node();
  if (const auto usual = activation_of(site.import(), node))
    return site.give(activated(site, site.real(site.flow(0)), *usual));
  const Flow bent = activated(site, site.real(site.flow(0)),
                              {{"type", "elu"}, {"alpha", selu_alpha(node)}});
  site.give(line(site, bent, selu_gamma(node), 0));
}

// x, where it is that alone, times the cut line.
void hard_swish(Site& site) {
  const Flow flow = site.real(site.flow(0));
  const Value gate =
      site.add("gate",
               {{"type", "activation"},
                {"activation", {{"type", "hard_sigmoid"}, {"slope", 1.0 / 6}}}},
               {flow});
  Flow made = flow;
  made.linear = nullptr;
  made.positive = false;
  static_cast<Value&>(made) =
      site.add("", {{"type", "multiply"}}, {flow, gate});
  site.give(std::move(made));
}

void prelu(Site& site) {
  const Constant& slope = site.known(1, "slope");
  Flow flow = site.real(site.flow(0));
  const Sizes shape = site.shape(flow);
  const Sizes& own = slope.shape();
  // The only axis along which slopes differ; that of channels, if none.
  std::size_t axis = shape.size() > 1 ? 1 : 0;
  for (std::size_t k = 0; k < own.size(); ++k)
    if (own[k] != 1 && (site.node().opset > 6 || own.size() > 1))
      axis = shape.size() - own.size() + k;
  if (own.size() > shape.size() ||
      (slope.elements() != 1 && slope.elements() != shape[axis])) {
    site.refuse("its slopes differ along several axes; one would be needed");
  }
  flow = site.with_last(flow, axis);
  flow.positive = false;
  static_cast<Value&>(flow) = site.add("", {{"type", "prelu"}}, {flow});
  site.fill(flow.node, "slope", [slope](std::span<float> to) {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>(slope.at(slope.elements() == 1 ? 0 : i));
  });
  site.give(std::move(flow));
}

// Opsets differ in how they say whether a model is in training.
void dropout(Site& site) {
  const Node& node = site.node();
  const bool trains =
      node.opset < 7 ? node.integer("is_test", 0) == 0
                     : site.has(2) && site.known(2, "training_mode").at(0) != 0;
  if (trains) site.refuse("it is in training; export the model in eval mode");
  site.give(site.flow(0));
}

void nothing(Site& site) {
  if (const Constant* constant = site.constant(0)) return site.give(*constant);
  site.give(site.flow(0));
}

// Whether a cast leaves the whole numbers of an input as they are.
bool keeps_wholes(int to) {
  constexpr ElementType kWide[] = {ElementType::kInt32, ElementType::kUint32,
                                   ElementType::kInt64, ElementType::kUint64};
  return std::ranges::find(kWide, static_cast<ElementType>(to)) !=
         std::end(kWide);
}

// Whole numbers that something computes with are no tokens.  The results would
// be cut to integers, which no layer does.
void cast(Site& site) {
  if (site.constant(0) != nullptr)
    site.refuse("it makes of a constant what is no number of its type");
  const Flow& flow = site.flow(0);
  Import& import = site.import();
  Inputs& inputs = *import.inputs;
  const int to = cast_type(site.node());
  const auto given = import.types.find(flow.node);
  const bool whole = given != import.types.end() && !is_real(given->second);
  if (is_real(to)) {
    if (flow.form.tokens && inputs.numbers.insert(flow.node).second)
      throw Again{};
  } else if (!(whole && (to == given->second || keeps_wholes(to)))) {
    // Reals that a table is read by are whole numbers already.
    const bool tokens = given != import.types.end() && keeps_wholes(to) &&
                        inputs.numbers.count(flow.node) == 0;
    if (tokens && inputs.tokens.insert(flow.node).second) throw Again{};
    if (!tokens)
      site.refuse(
          "it cuts numbers to whole ones or truth values; a cast between "
          "reals would be needed");
  }
  site.give(flow);
}

}  // namespace

bool is_positive(const Json& activation) {
  const std::string type =
      activation.is_string()   ? activation.get<std::string>()
      : activation.is_object() ? activation.value("type", "")
                               : "";
  return type == "relu" || type == "relu6" || type == "sigmoid" ||
         type == "softmax" || type == "softplus" || type == "exp" ||
         type == "hard_sigmoid" || type == "rectified_tanh";
}

std::optional<Json> activation_of(Import& import, const Node& node) {
  if (!node.domain.empty() && node.domain != kOwnDomain) return std::nullopt;
  if (const auto found = plain_names().find(node.op);
      found != plain_names().end())
    return found->second;
  return with_parameter(Site(import, node));
}

Json take_activation(Site& site, std::size_t rank, std::size_t axis) {
  const Node* next = site.only_reader();
  if (next == nullptr || next->input(0) != site.output()) return nullptr;
  std::optional<Json> found = activation_of(site.import(), *next);
  if (is_softmax(*next) && softmax_axis(*next, rank) == axis &&
      (axis + 1 == rank || !joins_axes(*next)))
    found = next->op == "Softmax" ? "softmax" : "log_softmax";
  if (!found) return nullptr;
  site.take_over(next);
  return *found;
}

std::vector<Operator> activation_operators() {
  std::vector<Operator> all = {{"LeakyRelu", activation},
                               {"Elu", activation},
                               {"ThresholdedRelu", activation},
                               {"Selu", selu},
                               {"Gelu", activation},
                               {"Swish", activation},
                               {"CappedRelu", activation},
                               {"HardSwish", hard_swish},
                               {"Softmax", softmax},
                               {"LogSoftmax", softmax},
                               {"PRelu", prelu},
                               {"Identity", nothing},
                               {"Dropout", dropout},
                               {"Cast", cast}};
  for (const auto& [name, type] : plain_names())
    all.push_back({name, activation});
  return all;
}

}  // namespace dl::convert::onnx
