// Activation functions of DL4J.

#include <array>
#include <cmath>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {
namespace {

constexpr double kNoLimit = 3e38;

constexpr std::array<std::pair<std::string_view, std::string_view>, 17>
    kSameActivations{{{"identity", "identity"},
                      {"linear", "identity"},
                      {"sigmoid", "sigmoid"},
                      {"tanh", "tanh"},
                      {"softmax", "softmax"},
                      {"softplus", "softplus"},
                      {"softsign", "softsign"},
                      {"cube", "cube"},
                      {"relu6", "relu6"},
                      {"selu", "selu"},
                      {"swish", "swish"},
                      {"mish", "mish"},
                      {"hardtanh", "hard_tanh"},
                      {"rationaltanh", "rational_tanh"},
                      {"rectifiedtanh", "rectified_tanh"},
                      {"exp", "exp"},
                      {"logsoftmax", "log_softmax"}}};

Json relu(const Json& function) {
  const double max = number_in(function, "max", kNoLimit);
  const double slope = number_in(function, "negativeSlope", 0);
  const double threshold = number_in(function, "threshold", 0);
  if (max != kNoLimit || threshold != 0)
    return {{"type", "capped_relu"},
            {"max", max},
            {"negative_slope", slope},
            {"threshold", threshold}};
  if (slope != 0) return {{"type", "leaky_relu"}, {"alpha", slope}};
  return "relu";
}

}  // namespace

Json activation_of(const Json& function) {
  const std::string name = class_behind("activation", function);
  if (name == "relu") return relu(function);
  if (name == "lrelu" || name == "leakyrelu")
    return {{"type", "leaky_relu"},
            {"alpha", number_in(function, "alpha", 0.01)}};
  if (name == "elu")
    return {{"type", "elu"}, {"alpha", number_in(function, "alpha", 1)}};
  if (name == "thresholdedrelu")
    return {{"type", "thresholded_relu"},
            {"theta", number_in(function, "theta", 1)}};
  if (name == "hardsigmoid") return {{"type", "hard_sigmoid"}, {"slope", 0.2}};
  if (name == "gelu") {
    if (member(function, "precise") == Json(true))
      return {{"type", "gelu"}, {"approximate", true}};
    return {{"type", "swish"}, {"beta", 1.702}};
  }
  for (const auto& [theirs, ours] : kSameActivations)
    if (name == theirs) return ours;
  return {};
}

Flow activated(Site& site, const Flow& value, const Json& function,
               const std::string& part) {
  const std::string name = class_behind("activation", function);
  const Json ours = activation_of(function);
  if (ours == Json("identity")) return value;
  if (name == "gelu" && member(function, "precise") == Json(true))
    site.note(
        "its precise GELU cubes x here, as in the paper; DL4J cubes 0.044715 "
        "x");
  if (!ours.is_null()) {
    const bool over_last =
        ours == Json("softmax") || ours == Json("log_softmax");
    return site.add(part, {{"type", "activation"}, {"activation", ours}},
                    {over_last ? site.in_order(value) : value});
  }
  if (name == "rrelu")
    return site.add(part,
                    {{"type", "rrelu"},
                     {"lower", number_in(function, "l", 0.125)},
                     {"upper", number_in(function, "u", 1.0 / 3)}},
                    {value});
  site.refuse("its activation " + in_quotes(shown_class(function)) +
              " is none that networks here have; one of dl-network(5), "
              "ACTIVATIONS, would be needed");
}

Flow add_activated(Site& site, Json node, const std::vector<Flow>& from) {
  const Json function = member(site.json(), "activationFn").is_null()
                            ? Json{{"@class", "ActivationSigmoid"}}
                            : member(site.json(), "activationFn");
  const Json ours = activation_of(function);
  const bool simple =
      !ours.is_null() && class_behind("activation", function) != "gelu";
  if (simple) {
    if (ours != Json("identity")) node["activation"] = ours;
    return site.add("", std::move(node), from);
  }
  return activated(site, site.add("", std::move(node), from), function,
                   "activation");
}

}  // namespace dl::convert::dl4j
