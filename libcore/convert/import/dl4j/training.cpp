// Training settings of a layer, as keys of its nodes: initialization,
// constraints, weight noise.

#include <cmath>
#include <map>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/legacy.h"
#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {
namespace {

// A distribution of numbers, as a weight_init; null: none of ours.
Json distribution_of(const Json& given) {
  const std::string name = class_of(given, "distribution");
  const double mean = number_in(given, "mean", 0);
  const double deviation = number_in(given, "std", 1);
  if ((name == "normal" || name == "gaussian") && mean == 0 && deviation > 0)
    return {{"type", "normal"}, {"deviation", deviation}};
  if (name == "truncatednormal" && mean == 0 && deviation > 0)
    return {{"type", "truncated_normal"}, {"deviation", deviation}};
  if (name == "lognormal" && deviation > 0)
    return {{"type", "log_normal"}, {"mean", mean}, {"deviation", deviation}};
  if (name == "uniform") {
    const double upper = number_in(given, "upper", 0);
    if (upper > 0 && number_in(given, "lower", 0) == -upper)
      return {{"type", "uniform"}, {"limit", upper}};
  }
  if (name == "orthogonal" && number_in(given, "gain", 1) > 0)
    return {{"type", "orthogonal"}, {"gain", number_in(given, "gain", 1)}};
  if (name == "constant")
    return {{"type", "constant"}, {"value", number_in(given, "value", 0)}};
  return {};
}

// "WeightInitVarScalingNormalFanIn", "VAR_SCALING_NORMAL_FAN_IN": theirs is not
// widened for what a truncated distribution lacks, and U is 3 scale /
// sqrt(fan).
Json scaled(const std::string& name, double scale) {
  constexpr double kTruncated = 0.87962566103423978;
  const bool normal = name.find("normal") != std::string::npos;
  const char* mode = name.ends_with("fanin")    ? "fan_in"
                     : name.ends_with("fanout") ? "fan_out"
                                                : "fan_avg";
  return {
      {"type", "variance_scaling"},
      {"scale", normal ? kTruncated * kTruncated * scale : 3 * scale * scale},
      {"mode", mode},
      {"distribution", normal ? "truncated_normal" : "uniform"}};
}

Json uniform(double scale, const char* mode) {
  return {{"type", "variance_scaling"},
          {"scale", scale},
          {"mode", mode},
          {"distribution", "uniform"}};
}

Json init_of(const Site& site, const Json& given) {
  std::string name = class_of(given);
  constexpr std::string_view kStart = "weightinit";
  if (name.starts_with(kStart)) name.erase(0, kStart.size());
  static const std::map<std::string_view, std::string_view> same{
      {"xavier", "xavier"},     {"xavieruniform", "xavier_uniform"},
      {"xavierfanin", "lecun"}, {"normal", "lecun"},
      {"lecunnormal", "lecun"}, {"normalized", "lecun"},
      {"relu", "he"},           {"reluuniform", "he_uniform"},
      {"uniform", "uniform"},   {"size", "uniform"},
      {"zero", "zero"},         {"ones", "ones"},
      {"identity", "identity"}};
  if (const auto found = same.find(name); found != same.end())
    return found->second;
  if (name == "lecununiform") return uniform(3, "fan_in");
  if (name == "sigmoiduniform") return uniform(16, "fan_avg");
  if (name.starts_with("varscaling")) {
    const double scale = number_in(given, "scale", 1);
    return scaled(name, scale > 0 ? scale : 1);
  }
  if (name == "constant")
    return {{"type", "constant"}, {"value", number_in(given, "value", 0)}};
  Json ours;
  if (name == "distribution")
    ours = distribution_of(unwrapped(member(given, "distribution")));
  if (!ours.is_null()) return ours;
  site.note(
      "its weights start otherwise when they are drawn anew: by xavier, "
      "not " +
      in_quotes(shown_class(given)));
  return "xavier";
}

// A coefficient, which may be a schedule in the file.
double cost_of(const Site& site, const Json& term, const char* key) {
  const Json& given = member(term, key);
  if (given.is_number()) return number_in(term, key, 0);
  if (class_of(given, "schedule") == "fixed")
    return number_in(given, "value", 0);
  if (given.is_object())
    site.note("the schedule of its " + std::string(key) +
              " is left out: it is as it is at the start");
  return number_in(given, "initialValue", 0);
}

// Decay that is not multiplied by the learning rate is divided by it here.
double decay_of(const Site& site, const Json& term, const Json& updater) {
  const double coefficient = cost_of(site, term, "coeff");
  if (member(term, "applyLR") != Json(false)) return coefficient;
  const auto rate = updater.find("learning_rate");
  if (rate == updater.end()) return coefficient;
  double start = 0;
  if (rate->is_number()) {
    start = rate->get<double>();
  } else {
    start =
        number_in(*rate, "initial", number_in(member(*rate, "values"), "0", 0));
    site.note(
        "its weight decay follows the learning rate's schedule here, DL4J's "
        "does not");
  }
  return start > 0 ? coefficient / start : 0;
}

void add_regularization(const Site& site, const Json& list, const Json& updater,
                        const std::string& suffix, Json& to) {
  if (!list.is_array()) return;
  for (const Json& term : list) {
    const std::string name = class_of(term, "regularization");
    double cost = 0;
    std::string key;
    if (name == "l1" || name == "l2") {
      key = name + suffix;
      cost = cost_of(site, term, name.c_str());
    } else if (name == "weightdecay") {
      key = "weight_decay" + suffix;
      cost = decay_of(site, term, updater);
    } else {
      site.note("its regularization " + in_quotes(shown_class(term)) +
                " is left out");
      continue;
    }
    if (cost > 0) to[key] = cost;
  }
}

// Whether the norm over these dimensions of DL4J's weights is that of the
// weights of each output, as it is here.
bool is_of_outputs(const Json& dimensions, const std::string& type) {
  if (!dimensions.is_array()) return true;
  if (type == "conv1d" || type == "conv2d") return dimensions == Json{1, 2, 3};
  if (type == "conv3d") return dimensions == Json{1, 2, 3, 4};
  if (type == "conv2d_transpose") return dimensions == Json{0, 2, 3};
  return dimensions == Json::array({0}) && type != "embedding";
}

// One of ours holds for a layer's weights, and for its biases if it says so.
Json constraints_of(const Site& site, const std::string& type) {
  const Json& list = member(site.json(), "constraints");
  Json ours = Json::object();
  if (!list.is_array()) return ours;
  for (const Json& one : list) {
    const std::string name = class_of(one, "constraint");
    Json made = Json::object();
    if (name == "maxnorm")
      made["max_norm"] = number_in(one, "maxNorm", 2);
    else if (name == "unitnorm")
      made = {{"min_norm", 1.0}, {"max_norm", 1.0}};
    else if (name == "nonnegative")
      made["non_negative"] = true;
    else if (name == "minmaxnorm")
      made = {{"min_norm", number_in(one, "min", 0)},
              {"max_norm", number_in(one, "max", 1)},
              {"rate", number_in(one, "rate", 1)}};
    const Json& names = member(one, "params");
    bool weights = names.is_null() || names.empty(), biases = false;
    if (names.is_array())
      for (const Json& param : names) {
        const bool bias = param == "b" || param == "bF" || param == "bB";
        weights |= !bias;
        biases |= bias;
      }
    const Json& dimensions = member(one, "dimensions");
    if (!made.empty() && name != "nonnegative" &&
        !is_of_outputs(dimensions, type)) {
      site.note("its constraint " + in_quotes(shown_class(one)) +
                " is left out: its norms are over the dimensions " +
                dump_json(dimensions) + ", here they are those of an output");
      continue;
    }
    if (made.empty() || !weights) {
      site.note("its constraint " + in_quotes(shown_class(one)) +
                (made.empty() ? "" : " of biases alone") + " is left out");
      continue;
    }
    if (biases) made["biases"] = true;
    ours.update(made);
  }
  return ours;
}

Json weight_noise_of(const Site& site) {
  const Json& given = member(site.json(), "weightNoise");
  if (given.is_null()) return Json::object();
  const std::string name = class_of(given);
  if (name == "dropconnect") {
    const double retain = number_in(given, "weightRetainProb", 0.5);
    if (retain > 0 && retain < 1) {
      site.note(
          "the weights that its DropConnect keeps are scaled here, in DL4J "
          "they "
          "are not");
      return {{"drop_connect", 1 - retain}};
    }
  }
  if (name == "weightnoise") {
    const Json noise =
        distribution_of(unwrapped(member(given, "distribution")));
    if (noise.is_object() && noise.value("type", "") == "normal")
      return {{"deviation", noise["deviation"]},
              {"multiplicative", member(given, "additive") == Json(false)}};
  }
  site.note("its weight noise " + in_quotes(shown_class(given)) +
            " is left out");
  return Json::object();
}

void add_normalization(const Site& site, Json& node) {
  static const std::map<std::string, std::string_view> known{
      {"RenormalizeL2PerLayer", "renormalize_l2_per_layer"},
      {"RenormalizeL2PerParamType", "renormalize_l2_per_parameter"},
      {"ClipElementWiseAbsoluteValue", "clip_elementwise"},
      {"ClipL2PerLayer", "clip_l2_per_layer"},
      {"ClipL2PerParamType", "clip_l2_per_parameter"}};
  const auto found = known.find(site.text("gradientNormalization", "None"));
  if (found == known.end()) return;
  node["gradient_normalization"] = found->second;
  const double threshold = site.number("gradientNormalizationThreshold", 1);
  if (threshold > 0) node["gradient_threshold"] = threshold;
}

// Notes on parameters that are neither weights nor biases here, but are in
// DL4J.
void note_others(const Site& site, const std::string& type) {
  if (type != "element_multiply" && type != "prelu") return;
  for (const char* key : {"biasUpdater", "regularization", "regularizationBias",
                          "constraints", "weightNoise"})
    if (site.has(key) && !member(site.json(), key).empty())
      site.note("its " + std::string(key) + " is left out");
}

}  // namespace

void add_training(const Site& site, const std::string& type, Json& node) {
  const nn::Trains trains = nn::layer_type(type).trains;
  if (trains == nn::Trains::kNothing) return;
  if (site.frozen()) node["frozen"] = true;
  if (!node.contains("updater"))
    node["updater"] = updater_of(site, member(site.json(), "iupdater"));
  add_normalization(site, node);
  if (trains == nn::Trains::kOthers) return note_others(site, type);
  if (site.has("biasUpdater"))
    node["bias_updater"] = updater_of(site, member(site.json(), "biasUpdater"));
  Json regularization = Json::object();
  add_regularization(site, member(site.json(), "regularization"),
                     node["updater"], "", regularization);
  add_regularization(
      site, member(site.json(), "regularizationBias"),
      node.contains("bias_updater") ? node["bias_updater"] : node["updater"],
      "_bias", regularization);
  if (!regularization.empty()) node["regularization"] = regularization;
  if (const Json kept = constraints_of(site, type); !kept.empty())
    node["constraints"] = kept;
  if (const Json noise = weight_noise_of(site); !noise.empty())
    node["weight_noise"] = noise;
  if (site.has("weightInitFn"))
    node["weight_init"] = init_of(site, member(site.json(), "weightInitFn"));
  if (trains == nn::Trains::kRecurrentWeights &&
      site.has("weightInitFnRecurrent"))
    node["recurrent_init"] =
        init_of(site, member(site.json(), "weightInitFnRecurrent"));
  if (const double bias = site.number("biasInit", 0); bias != 0)
    node["bias_init"] = bias;
}

}  // namespace dl::convert::dl4j
