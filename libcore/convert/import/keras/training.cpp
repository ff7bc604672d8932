// The compiled part of a Keras model: losses, metrics, and the optimizer.

#include <algorithm>
#include <cmath>
#include <string_view>

#include "libcore/base/display.h"
#include "libcore/convert/import/keras/compiled.h"

namespace dl::convert::keras {

double number(const Json& config, std::initializer_list<const char*> keys,
              double fallback) {
  for (const char* key : keys) {
    const auto found = config.find(key);
    if (found != config.end() && found->is_number())
      return found->get<double>();
  }
  return fallback;
}

bool flag(const Json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && *found == Json(true);
}

const Json& object_in(const Json& json, const char* key) {
  static const Json kNothing = Json::object();
  const auto found = json.find(key);
  return found != json.end() && found->is_object() ? *found : kNothing;
}

std::string class_of(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_object()) return "";
  // {"class_name": "function", "config": "mse"}
  const auto config = json.find("config");
  if (json.value("class_name", Json()) == Json("function") &&
      config != json.end() && config->is_string())
    return config->get<std::string>();
  const auto name = json.find("class_name");
  return name != json.end() && name->is_string() ? name->get<std::string>()
                                                 : "";
}

namespace {

// Since tf.keras 2.11.
bool is_new(const Json& config) { return config.contains("use_ema"); }

// decays: whether a "decay" is the rate's.
Json rate_of(const Json& config, double fallback, bool decays, Notes& notes) {
  const Json& rate = object_in(config, "learning_rate");
  if (!rate.empty()) {
    if (const auto schedule = schedule_of(rate)) return *schedule;
    const double initial =
        number(object_in(rate, "config"), {"initial_learning_rate"}, fallback);
    notes.insert("the schedule " + in_quotes(class_of(rate)) +
                 " of the learning rate, with its settings, is none that "
                 "networks here have: it stays " +
                 dump_json(Json(std::max(initial, 0.0))));
    return std::max(initial, 0.0);
  }
  const double initial =
      std::max(number(config, {"learning_rate", "lr"}, fallback), 0.0);
  const double decay = number(config, {"decay"}, 0);  // up to Keras 2.10
  if (decays && decay > 0)
    return {{"schedule", "inverse"}, {"initial", initial}, {"decay", decay}};
  return initial;
}

Json adam(const char* type, const Json& config, double epsilon) {
  return {{"type", type},
          {"beta1", number(config, {"beta_1"}, 0.9)},
          {"beta2", number(config, {"beta_2"}, 0.999)},
          {"epsilon", number(config, {"epsilon"}, epsilon)}};
}

Json updater_of(const std::string& name, const Json& config, Notes& notes) {
  Json updater;
  double rate = 0.001;
  const double epsilon = number(config, {"epsilon"}, 1e-7);
  if (name == "sgd") {
    rate = 0.01;
    const double momentum = number(config, {"momentum"}, 0);
    updater["type"] = momentum <= 0              ? "sgd"
                      : flag(config, "nesterov") ? "nesterov"
                                                 : "momentum";
    if (momentum > 0) updater["momentum"] = momentum;
  } else if (name == "adam" || name == "adamw") {
    // AdamW's weight decay is the network's, below.
    updater = adam(flag(config, "amsgrad") ? "amsgrad" : "adam", config, 1e-7);
  } else if (name == "adamax") {
    updater = adam("adamax", config, 1e-7);
  } else if (name == "nadam") {
    updater = adam("nadam", config, 1e-7);
    updater["epsilon_at"] = "corrected";
    const double decay = number(config, {"schedule_decay", "decay"}, 0);
    if (is_new(config) || decay > 0)
      updater["momentum_decay"] = is_new(config) ? 1 : decay;
  } else if (name == "adagrad") {
    updater = {{"type", "adagrad"}, {"epsilon", epsilon}};
    updater["start"] = number(config, {"initial_accumulator_value"}, 0);
    if (is_new(config)) updater["epsilon_at"] = "square";
  } else if (name == "rmsprop") {
    updater = {{"type", "rmsprop"},
               {"decay", number(config, {"rho"}, 0.9)},
               {"epsilon", epsilon},
               {"start", 0}};
    if (is_new(config)) updater["epsilon_at"] = "square";
    if (number(config, {"momentum"}, 0) > 0 || flag(config, "centered"))
      notes.insert("momentum and centering of its RMSprop are left out");
  } else if (name == "adadelta") {
    updater = {{"type", "adadelta"},
               {"decay", number(config, {"rho"}, 0.95)},
               {"epsilon", epsilon}};
  } else {
    return {};
  }
  updater["learning_rate"] = rate_of(config, rate, name != "nadam", notes);
  return updater;
}

// The optimizer itself: of 16 bits, Keras has it in another, which scales.
const Json& unwrapped(const Json& optimizer) {
  const Json& inner =
      object_in(object_in(optimizer, "config"), "inner_optimizer");
  return inner.empty() ? optimizer : inner;
}

void add_optimizer(const Json& optimizer, Json& keys, Notes& notes) {
  const std::string given = class_of(optimizer);
  const Json& config = object_in(optimizer, "config");
  std::string name = plain(given);
  if (const auto custom = name.find('>'); custom != std::string::npos)
    name.erase(0, custom + 1);
  const Json updater = updater_of(name, config, notes);
  if (updater.is_null()) {
    notes.insert("its optimizer " + in_quotes(given) +
                 " is none that networks here have, and is left out");
    return;
  }
  keys["updater"] = updater;
  const auto clip = [&](const char* key, const char* ours) {
    const double threshold = number(config, {key}, 0);
    if (!(threshold > 0)) return;
    keys["gradient_normalization"] = ours;
    keys["gradient_threshold"] = threshold;
  };
  clip("clipvalue", "clip_elementwise");
  clip("clipnorm", "clip_l2_per_parameter");
  for (const char* key :
       {"global_clipnorm", "use_ema", "gradient_accumulation_steps"})
    if (flag(config, key) || number(config, {key}, 0) > 0)
      notes.insert(std::string("its ") + key + " is left out");
  const double decay =
      number(config, {"weight_decay"}, name == "adamw" ? 0.004 : 0);
  if (decay > 0)
    keys["regularization"] = {{"weight_decay", decay},
                              {"weight_decay_bias", decay}};
}

const char* nodes_key(const Json& document) {
  return document.contains("layers") ? "layers" : "nodes";
}

bool has_node(const Json& document,
              std::initializer_list<std::string_view> types) {
  const Json& nodes = document[nodes_key(document)];
  return std::ranges::any_of(nodes, [&](const Json& node) {
    return std::ranges::count(types, node["type"].get<std::string>()) > 0;
  });
}

// Notes settings that treat parameters of some layers differently.
void note_differences(const Json& document, std::set<std::string>& notes) {
  if (document.contains("regularization") &&
      has_node(document, {"batch_norm", "layer_norm", "rms_norm", "group_norm",
                          "prelu", "scale"}))
    notes.insert(
        "weight decay leaves gamma, beta and the slopes of PReLU alone here");
}

}  // namespace

Training training_of(const Source& source,
                     const std::vector<std::string>& outputs,
                     const std::vector<Flow>& values,
                     std::set<std::string>& notes) {
  Training training;
  const Json all =
      source.training.is_object() ? source.training : Json::object();
  for (std::size_t i = 0; i < values.size(); ++i)
    training.aims.push_back(aim_of(all, i, i < outputs.size() ? outputs[i] : "",
                                   values[i], source.version, notes));
  for (const char* key : {"optimizer", "optimizer_config"})
    if (all.contains(key) && !all[key].is_null())
      add_optimizer(unwrapped(all[key]), training.keys, notes);
  return training;
}

// Layers that say what their parameters cost say all of it.
void add_keys(const Training& training, Json& document,
              std::set<std::string>& notes) {
  document.update(training.keys);
  note_differences(document, notes);
  const auto costs = training.keys.find("regularization");
  if (costs == training.keys.end()) return;
  for (Json& node : document[nodes_key(document)])
    if (node.contains("regularization")) node["regularization"].update(*costs);
}

}  // namespace dl::convert::keras
