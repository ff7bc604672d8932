// Training settings of a layer, as keys of a node: initialization and
// constraints.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "libcore/base/display.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

constexpr std::string_view kRecurrentConstraint = "recurrent_constraint";

// {"class_name", "config"}, or a name alone.
struct Named {
  std::string name;
  JsonView config;
};

Named named(const JsonView& json, const JsonView& none) {
  if (json.raw().is_string()) return {json.string(), none};
  if (json.has("class_name"))
    return {json.at("class_name").string(),
            json.has("config") && json.at("config").raw().is_object()
                ? json.at("config")
                : none};
  if (json.has("name")) return {json.at("name").string(), json};  // Keras 1
  return {"", none};
}

double number_in(const JsonView& config, const char* key, double fallback) {
  if (!config.has(key)) return fallback;
  const JsonView entry = config.at(key);
  const Json& value = entry.raw();
  // A tensor of one number, as some versions write it.
  if (value.is_object() && value.contains("config") &&
      value["config"].contains("value") && value["config"]["value"].is_number())
    return value["config"]["value"].get<double>();
  return value.is_null() ? fallback : entry.number();
}

Json scaled(double scale, const char* mode, const char* distribution) {
  return {{"type", "variance_scaling"},
          {"scale", scale},
          {"mode", mode},
          {"distribution", distribution}};
}

Json variance_scaling(const JsonView& config) {
  const auto text = [&](const char* key, const char* fallback) {
    return config.has(key) ? config.at(key).string() : std::string(fallback);
  };
  const std::string distribution = text("distribution", "truncated_normal");
  return scaled(number_in(config, "scale", 1),
                text("mode", "fan_in") == "fan_in"    ? "fan_in"
                : text("mode", "fan_in") == "fan_out" ? "fan_out"
                                                      : "fan_avg",
                distribution == "uniform"              ? "uniform"
                : distribution == "untruncated_normal" ? "normal"
                                                       : "truncated_normal");
}

// Null where networks here have no such.
Json initializer(const Named& given) {
  const std::string name = plain(given.name);
  const JsonView& config = given.config;
  if (name == "glorotuniform") return "xavier_uniform";
  if (name == "glorotnormal") return scaled(1, "fan_avg", "truncated_normal");
  if (name == "heuniform") return "he_uniform";
  if (name == "henormal") return scaled(2, "fan_in", "truncated_normal");
  if (name == "lecununiform") return "lecun_uniform";
  if (name == "lecunnormal") return scaled(1, "fan_in", "truncated_normal");
  if (name == "zeros" || name == "zero") return "zero";
  if (name == "ones" || name == "one") return "ones";
  if (name == "constant")
    return {{"type", "constant"}, {"value", number_in(config, "value", 0)}};
  if (name == "variancescaling") return variance_scaling(config);
  if (name == "orthogonal" || name == "orthogonalinitializer")
    return {{"type", "orthogonal"}, {"gain", number_in(config, "gain", 1)}};
  if (name == "randomnormal" || name == "normal" || name == "truncatednormal") {
    const double deviation = number_in(config, "stddev", 0.05);
    if (number_in(config, "mean", 0) != 0 || !(deviation > 0)) return {};
    return {{"type", name == "truncatednormal" ? "truncated_normal" : "normal"},
            {"deviation", deviation}};
  }
  if (name == "randomuniform" || name == "uniform") {
    const double high = number_in(config, "maxval", 0.05);
    if (number_in(config, "minval", -0.05) != -high || !(high > 0)) return {};
    return {{"type", "uniform"}, {"limit", high}};
  }
  return {};
}

// l2 there is of the square, here of half of it.
void add_regularizer(const Site& site, const Named& given, const char* l1,
                     const char* l2, Json& to) {
  const std::string name = plain(given.name);
  if (name != "l1l2" && name != "l1" && name != "l2")
    return site.note("its regularizer " + in_quotes(given.name) +
                     " is left out");
  const double usual = 0.01;
  const double absolute =
      number_in(given.config, "l1", name == "l1" ? usual : 0);
  const double square = number_in(given.config, "l2", name == "l2" ? usual : 0);
  if (absolute > 0) to[l1] = absolute;
  if (square > 0) to[l2] = 2 * square;
}

// The axes whose sum is that of the weights of one output, as Keras counts
// them; none where weights of several kinds have the constraint here.
std::vector<std::int64_t> axes_of_output(const Site& site) {
  const std::string& name = site.layer().class_name;
  if (name == "Embedding") return {1};
  if (name == "Dense" || name == "LSTM" || name == "GRU" || name == "SimpleRNN")
    return {0};
  if (name == "DepthwiseConv1D") return {0};
  if (name == "DepthwiseConv2D") return {0, 1};
  if (name == "Conv2DTranspose") return {0, 1, 3};
  if (name == "Conv1DTranspose") return {0, 2};
  for (std::int64_t axes = 1; axes <= 3; ++axes)
    for (const char* one : {"Conv", "Convolution"})
      if (name == one + std::to_string(axes) + "D") {
        std::vector<std::int64_t> all(static_cast<std::size_t>(axes + 1));
        std::iota(all.begin(), all.end(), 0);
        return all;
      }
  return {};
}

// Whether a norm there is of the same weights as here.
bool is_of_output(const Site& site, const JsonView& config) {
  const std::vector<std::int64_t> wanted = axes_of_output(site);
  std::vector<std::int64_t> axes{0};
  for (const char* key : {"axis", "dim"})
    if (config.has(key)) {
      const JsonView given = config.at(key);
      axes = given.raw().is_array() ? given.integers(-8, 8)
                                    : std::vector{given.integer(-8, 8)};
      break;
    }
  const std::int64_t rank =
      wanted.empty()
          ? 0
          : std::max<std::int64_t>(
                std::ssize(wanted) +
                    (site.layer().class_name.starts_with("Depth") ? 2 : 1),
                2);
  for (std::int64_t& axis : axes)
    if (axis < 0) axis += rank;
  std::ranges::sort(axes);
  return !wanted.empty() && axes == wanted;
}

Json constraint(const Named& given) {
  const std::string name = plain(given.name);
  const JsonView& config = given.config;
  const auto value = [&](const char* key, const char* old, double fallback) {
    return number_in(config, key, number_in(config, old, fallback));
  };
  if (name == "nonneg") return {{"non_negative", true}};
  if (name == "unitnorm") return {{"min_norm", 1.0}, {"max_norm", 1.0}};
  if (name == "maxnorm") return {{"max_norm", value("max_value", "m", 2)}};
  if (name == "minmaxnorm")
    return {{"min_norm", value("min_value", "low", 0)},
            {"max_norm", value("max_value", "high", 1)},
            {"rate", number_in(config, "rate", 1)}};
  return {};
}

}  // namespace

void Site::add_training(Json& node, const std::string& prefix) const {
  static const Json kNothing = Json::object();
  const JsonView none(kNothing, Code::kData, "");
  const auto given = [&](const std::string& of, const char* what,
                         const char* old) -> std::optional<Named> {
    const std::string key = of + what;
    if (!has({key.c_str(), old})) return std::nullopt;
    return named(view({key.c_str(), old}), none);
  };
  if (const auto start = given(prefix, "_initializer", "init")) {
    const Json ours = initializer(*start);
    if (ours.is_null())
      note("its initializer " + in_quotes(start->name) + " is left out");
    else
      node["weight_init"] = ours;
  }
  const std::string type = node.value("type", "");
  if (type == "lstm" || type == "gru" || type == "simple_rnn")
    if (const auto start = given("recurrent", "_initializer", "inner_init")) {
      const Json ours = initializer(*start);
      if (!ours.is_null()) node["recurrent_init"] = ours;
    }
  if (const auto start = given("bias", "_initializer", "bias_init")) {
    const std::string name = plain(start->name);
    if (name == "constant")
      node["bias_init"] = number_in(start->config, "value", 0);
    if (name == "ones") node["bias_init"] = 1;
  }
  Json regularization = Json::object();
  if (const auto cost = given(prefix, "_regularizer", "W_regularizer"))
    add_regularizer(*this, *cost, "l1", "l2", regularization);
  if (const auto cost = given("bias", "_regularizer", "b_regularizer"))
    add_regularizer(*this, *cost, "l1_bias", "l2_bias", regularization);
  if (!regularization.empty()) node["regularization"] = regularization;
  bool alike_recurrent = false;
  if (const auto kept = given(prefix, "_constraint", "W_constraint")) {
    const Json ours = constraint(*kept);
    // Cells have theirs on both kernels, or on neither.
    const auto other = given("recurrent", "_constraint", "");
    const bool cell = type == "lstm" || type == "gru" || type == "simple_rnn";
    const bool alike = !cell || (other && other->name == kept->name &&
                                 other->config.raw() == kept->config.raw());
    alike_recurrent = cell && alike;
    if (ours.is_null())
      note("its constraint " + in_quotes(kept->name) + " is left out");
    else if (!alike)
      note("its constraint " + in_quotes(kept->name) +
           " is left out: the same recurrent_constraint would be needed");
    else if (ours.contains("max_norm") && !is_of_output(*this, kept->config))
      note("its constraint " + in_quotes(kept->name) +
           " is left out: it is not of the weights of each output, which its "
           "axis would have to say");
    else
      node["constraints"] = ours;
  }
  for (const char* key : {"activity_regularizer", "recurrent_regularizer",
                          "recurrent_constraint", "bias_constraint"})
    if (has({key}) && !(alike_recurrent && key == kRecurrentConstraint))
      note(std::string("its ") + key + " is left out");
}

}  // namespace dl::convert::keras
