// Activation functions of Keras, as functions by name and as layers.

#include <algorithm>
#include <array>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/convert/import/keras/fills.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

using tensor::Shape;

constexpr double kNoLimit = 3e38;

// "relu", of a name or an object; "" of what has neither.
std::string name_of(const Json& activation) {
  if (activation.is_null()) return "linear";
  if (activation.is_string()) return activation.get<std::string>();
  if (!activation.is_object()) return "";
  const auto name = activation.find("class_name");
  if (name == activation.end() || !name->is_string()) return "";
  // {"class_name": "function", "config": "relu"}
  if (*name == "function" && activation.contains("config") &&
      activation["config"].is_string())
    return activation["config"].get<std::string>();
  return name->get<std::string>();
}

// Activations that are a single one of ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kSame{
    {{"linear", "identity"},
     {"relu", "relu"},
     {"relu6", "relu6"},
     {"elu", "elu"},
     {"selu", "selu"},
     {"gelu", "gelu"},
     {"sigmoid", "sigmoid"},
     {"tanh", "tanh"},
     {"softplus", "softplus"},
     {"softmax", "softmax"},
     {"softsign", "softsign"},
     {"swish", "swish"},
     {"silu", "swish"},
     {"mish", "mish"},
     {"exponential", "exp"},
     {"exp", "exp"},
     {"hardtanh", "hard_tanh"},
     {"logsoftmax", "log_softmax"},
     {"softmaxlayer", "softmax"},
     {"identity", "identity"},
     {"leakyrelu", "leaky_relu"}}};

Flow activation_node(Site& site, const Flow& value, const Json& activation,
                     const std::string& part) {
  return site.add(part, {{"type", "activation"}, {"activation", activation}},
                  {value});
}

Flow scaled(Site& site, const Flow& value, double factor,
            const std::string& part) {
  return site.add(part, {{"type", "scale"}, {"factor", factor}}, {value});
}

// x f(x)
Flow gated(Site& site, const Flow& value, const Json& gate,
           const std::string& part) {
  const Flow open = activation_node(site, value, gate, part + "_gate");
  return site.add(part, {{"type", "multiply"}}, {value, open});
}

Json hard_sigmoid(double slope) {
  return {{"type", "hard_sigmoid"}, {"slope", slope}};
}

// Activations that need several of our layers.
std::optional<Flow> composed(Site& site, const Flow& value,
                             const std::string& name, const std::string& part) {
  if (name == "hardsilu" || name == "hardswish")
    return gated(site, value, hard_sigmoid(1.0 / 6), part);
  if (name == "logsigmoid") {  // -softplus(-x)
    const Flow negative = scaled(site, value, -1, part + "_negative");
    const Flow plus =
        activation_node(site, negative, "softplus", part + "_softplus");
    return scaled(site, plus, -1, part);
  }
  if (name == "tanhshrink") {
    const Flow squashed = activation_node(site, value, "tanh", part + "_tanh");
    return site.add(part, {{"type", "subtract"}}, {value, squashed});
  }
  if (name == "celu") return activation_node(site, value, "elu", part);
  return std::nullopt;
}

Flow activation_layer(Site& site) {
  return activated(
      site, site.only(),
      site.has({"activation"}) ? site.view({"activation"}).raw() : Json(), "");
}

// f(x) = max for x >= max, x for x >= threshold, else slope (x - threshold)
Flow relu_layer(Site& site) {
  const double slope = site.number({"negative_slope"}, 0);
  const double threshold = site.number({"threshold"}, 0);
  const bool limited = site.has({"max_value"});
  Json activation = "relu";
  if (threshold != 0 && slope == 0 && !limited)
    activation = {{"type", "thresholded_relu"}, {"theta", threshold}};
  else if (limited || threshold != 0)
    activation = {{"type", "capped_relu"},
                  {"max", limited ? site.number({"max_value"}, 0) : kNoLimit},
                  {"negative_slope", slope},
                  {"threshold", threshold}};
  else if (slope != 0)
    activation = {{"type", "leaky_relu"}, {"alpha", slope}};
  return activation_node(site, site.only(), activation, "");
}

Flow leaky_relu_layer(Site& site) {
  const double slope = site.number({"negative_slope", "alpha"}, 0.3);
  return activation_node(site, site.only(),
                         {{"type", "leaky_relu"}, {"alpha", slope}}, "");
}

Flow elu_layer(Site& site) {
  return activation_node(
      site, site.only(),
      {{"type", "elu"}, {"alpha", site.number({"alpha"}, 1)}}, "");
}

Flow thresholded_relu_layer(Site& site) {
  return activation_node(
      site, site.only(),
      {{"type", "thresholded_relu"}, {"theta", site.number({"theta"}, 1)}}, "");
}

Flow softmax_layer(Site& site) {
  if (site.dialect().softmax_heeds_masks() && site.only().masked)
    site.refuse(
        "its input has a mask, by which it leaves out numbers; an Activation "
        "would be needed");
  std::int64_t axis = -1;
  if (site.has({"axis"})) {
    const JsonView given = site.view({"axis"});
    if (given.raw().is_array() && given.size() != 1)
      site.refuse("it is over several axes; one would be needed");
    axis = (given.raw().is_array() ? given.at(std::size_t{0}) : given)
               .integer(-8, 8);
  }
  return site.along(axis, false, [&](const Flow& value) {
    return activation_node(site, value, "softmax", "");
  });
}

// Slopes are for each number of an example, but for the axes that share them.
Flow prelu_layer(Site& site) {
  const Flow value = site.as_keras(site.only());
  const Shape shape = site.shape(value);
  std::vector<std::int64_t> shared;
  if (site.has({"shared_axes"}))
    shared = site.view({"shared_axes"}).integers(-8, 8);
  std::vector<std::int64_t> extents(shape.extents().begin(),
                                    shape.extents().end());
  for (const std::int64_t axis : shared) {
    // Keras counts those from the end from the one before the last.
    const std::int64_t at = axis > 0 ? axis - 1 : axis - 1 + shape.rank();
    if (at < 0 || at >= shape.rank()) site.refuse("its shared_axes are none");
    extents[static_cast<std::size_t>(at)] = 1;
  }
  bool channel = true;  // one slope for each index of the last axis
  for (std::size_t k = 0; k + 1 < extents.size(); ++k)
    channel &= extents[k] == 1;
  channel &= extents.back() == shape.back();
  const Array slopes =
      site.take("", {Shape(std::span<const std::int64_t>(extents))})[0];
  const Flow flow = site.add(
      "", {{"type", "prelu"}, {"slopes", channel ? "channel" : "element"}},
      {value});
  site.fill("slope", [slopes, shape](std::span<float> to) {
    // Where an axis is shared, its one slope counts for all.
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::size_t rest = i, from = 0, step = 1;
      for (int k = shape.rank(); k-- > 0;) {
        const auto extent = static_cast<std::size_t>(shape[k]);
        const auto own = static_cast<std::size_t>(slopes.shape[k]);
        if (own > 1) from += rest % extent * step;
        step *= own;
        rest /= extent;
      }
      to[i] = slopes.values[from];
    }
  });
  return flow;
}

// Functions of keras.ops that a model calls as layers.
Flow function(Site& site) {
  Json named = site.layer().class_name;
  // The layer is approximate if it does not say so, unlike the activation.
  if (plain(site.layer().class_name) == "gelu")
    named = {{"class_name", "gelu"},
             {"config", {{"approximate", site.flag({"approximate"}, true)}}}};
  return activated(site, site.only(), named, "");
}

}  // namespace

std::optional<Json> activation_of(const Json& activation,
                                  const Dialect& dialect) {
  const std::string name = plain(name_of(activation));
  if (name == "hardsigmoid") return hard_sigmoid(dialect.hard_sigmoid_slope());
  // Layers in the place of functions have settings.
  const Json config = activation.is_object() && activation.contains("config") &&
                              activation["config"].is_object()
                          ? activation["config"]
                          : Json::object();
  const auto number = [&](const char* key, double fallback) {
    const auto found = config.find(key);
    return found != config.end() && found->is_number() ? found->get<double>()
                                                       : fallback;
  };
  if (name == "leakyrelu") {
    // 0.3 of the layer in the place of a function, 0.2 of the function.
    const double slope = number(
        "negative_slope", number("alpha", activation.is_object() ? 0.3 : 0.2));
    return Json{{"type", "leaky_relu"}, {"alpha", slope}};
  }
  if (name == "relu" && !config.empty()) {
    const double slope = number("negative_slope", 0);
    const double max = number("max_value", kNoLimit);
    const double threshold = number("threshold", 0);
    if (max == kNoLimit && threshold == 0 && slope == 0) return Json("relu");
    return Json{{"type", "capped_relu"},
                {"max", max},
                {"negative_slope", slope},
                {"threshold", threshold}};
  }
  if (name == "thresholdedrelu")
    return Json{{"type", "thresholded_relu"}, {"theta", number("theta", 1)}};
  if (name == "elu" && number("alpha", 1) != 1)
    return Json{{"type", "elu"}, {"alpha", number("alpha", 1)}};
  // A softmax over another axis than the last is refused: none of ours.
  if (name == "softmax" && config.value("axis", Json(-1)) != Json(-1))
    return std::nullopt;
  if (name == "gelu" && config.value("approximate", Json()) == Json(true))
    return Json{{"type", "gelu"}, {"approximate", true}};
  for (const auto& [theirs, ours] : kSame)
    if (name == theirs) return Json(ours);
  return std::nullopt;
}

Flow activated(Site& site, const Flow& value, const Json& activation,
               const std::string& part) {
  const std::string name = plain(name_of(activation));
  const bool over_last = name == "softmax" || name == "logsoftmax";
  const Flow seen = over_last ? site.as_keras(value) : value;
  if (over_last && site.shape(seen).rank() == 0)
    site.refuse("its softmax is over nothing");
  if (const auto ours = activation_of(activation, site.dialect()))
    return *ours == Json("identity") ? value
                                     : activation_node(site, seen, *ours, part);
  if (const auto flow = composed(site, seen, name, part)) return *flow;
  if (name == "prelu")
    site.refuse(
        "its activation is a PReLU, which learns; a PReLU layer behind it "
        "would be needed");
  site.refuse("the activation " + in_quotes(name_of(activation)) +
              " is none that networks here have");
}

Flow add_activated(Site& site, Json node, const std::vector<Flow>& from) {
  const Json activation =
      site.has({"activation"}) ? site.view({"activation"}).raw() : Json();
  const auto ours = activation_of(activation, site.dialect());
  // One over the channels, where these are last here and first in Keras, is
  // over something else.
  const bool over_last = ours && ours->is_string() &&
                         (*ours == "softmax" || *ours == "log_softmax");
  if (ours && !(over_last && !from.empty() && from[0].moved)) {
    if (*ours != Json("identity")) node["activation"] = *ours;
    return site.add("", std::move(node), from);
  }
  const Flow flow = site.add("", std::move(node), from);
  return activated(site, flow, activation);
}

std::vector<Class> activation_classes() {
  std::vector<Class> all{{"Activation", activation_layer},
                         {"ReLU", relu_layer},
                         {"LeakyReLU", leaky_relu_layer},
                         {"ELU", elu_layer},
                         {"ThresholdedReLU", thresholded_relu_layer},
                         {"Softmax", softmax_layer},
                         {"PReLU", prelu_layer}};
  for (const char* name :
       {"Relu", "Relu6", "Sigmoid", "Tanh", "Silu", "Gelu", "Selu", "Softplus",
        "Softsign", "HardSigmoid", "HardSilu", "LogSigmoid", "Exp", "Mish"})
    all.push_back({name, function});
  return all;
}

}  // namespace dl::convert::keras
