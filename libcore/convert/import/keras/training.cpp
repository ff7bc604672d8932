// How a Keras model was compiled: losses, their weights and the optimizer.

#include <algorithm>
#include <cmath>
#include <optional>

#include "libcore/base/display.h"
#include "libcore/convert/import/keras/model.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

using Notes = std::set<std::string>;

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

// A loss here, and what it is divided by to be Keras's, which takes the mean of
// what is the sum here.
struct Loss {
  Json ours;
  bool mean = false;
};

Loss loss_of(const Json& json) {
  const std::string name = plain(class_of(json));
  const Json& config = object_in(json, "config");
  if (name == "categoricalcrossentropy" ||
      name == "sparsecategoricalcrossentropy")
    return {"negative_log_likelihood"};
  if (name == "binarycrossentropy") return {"binary_cross_entropy", true};
  if (name == "mse" || name == "meansquarederror")
    return {"mean_squared_error"};
  if (name == "mae" || name == "meanabsoluteerror")
    return {"mean_absolute_error"};
  if (name == "mape" || name == "meanabsolutepercentageerror")
    return {"mean_absolute_percentage_error"};
  if (name == "msle" || name == "meansquaredlogarithmicerror")
    return {"mean_squared_logarithmic_error"};
  if (name == "logcosh") return {"log_cosh"};
  if (name == "huber" || name == "huberloss")
    return {Json{{"type", "huber"}, {"delta", number(config, {"delta"}, 1)}}};
  if (name == "kld" || name == "kldivergence" ||
      name == "kullbackleiblerdivergence")
    return {"kl_divergence"};
  if (name == "poisson") return {"poisson", true};
  if (name == "hinge") return {"hinge", true};
  if (name == "squaredhinge") return {"squared_hinge", true};
  if (name == "categoricalhinge") return {"categorical_hinge"};
  if (name == "cosinesimilarity" || name == "cosineproximity")
    return {"cosine_proximity"};
  return {};
}

// Of output i, of what is one for all, one for each, or by name.
Json part_of(const Json& all, std::size_t i, const std::string& name) {
  if (all.is_array()) return i < all.size() ? all[i] : Json();
  if (all.is_object() && !all.contains("class_name"))
    return all.contains(name) ? all[name] : Json();
  return all;
}

Aim aim_of(const Json& compiled, std::size_t i, const std::string& name,
           const Value& value, Notes& notes) {
  Aim aim;
  const auto losses = compiled.find("loss");
  if (losses == compiled.end()) return aim;
  const Json given = part_of(*losses, i, name);
  if (given.is_null()) return aim;
  const Loss loss = loss_of(given);
  const std::string output = "the loss of the output " + in_quotes(name);
  if (loss.ours.is_null()) {
    notes.insert(output + ", " + in_quotes(class_of(given)) +
                 ", is none that networks here have, and is left out");
    return aim;
  }
  if (flag(object_in(given, "config"), "from_logits")) {
    notes.insert(
        output +
        " is of logits, and is left out: give the output an activation "
        "before it is trained");
    aim.loss = "mean_squared_error";
    return aim;
  }
  aim.loss = loss.ours;
  if (object_in(given, "config").value("reduction", Json()) == Json("sum"))
    notes.insert(output + " is a sum over the mini-batch, here it is the mean");
  const double smoothing =
      number(object_in(given, "config"), {"label_smoothing"}, 0);
  if (smoothing > 0)
    notes.insert(output + " smooths labels, which is left out");
  // The mean over the places of a sequence or image, the sum here.
  double count = loss.mean ? static_cast<double>(value.shape().back()) : 1;
  for (int k = 0; k + 1 < value.shape().rank(); ++k)
    count *= static_cast<double>(value.shape()[k]);
  double weight = 1;
  if (const auto weights = compiled.find("loss_weights");
      weights != compiled.end()) {
    const Json own = part_of(*weights, i, name);
    if (own.is_number()) weight = own.get<double>();
  }
  aim.loss_weight = weight / count;
  if (!(aim.loss_weight >= 0)) aim.loss_weight = 1;
  return aim;
}

// A learning rate that changes.
std::optional<Json> schedule_of(const Json& json) {
  const std::string name = plain(class_of(json));
  const Json& config = object_in(json, "config");
  const double initial = number(config, {"initial_learning_rate"}, 0.01);
  const double steps = std::round(number(config, {"decay_steps"}, 1));
  const double rate = number(config, {"decay_rate"}, 0.9);
  if (!(steps >= 1 && steps < 2147483647) || !(initial >= 0))
    return std::nullopt;
  const auto every = static_cast<std::int64_t>(steps);
  if (name == "exponentialdecay" && rate > 0) {
    if (flag(config, "staircase"))
      return Json{{"schedule", "step"},
                  {"initial", initial},
                  {"decay", rate},
                  {"every", every}};
    return Json{{"schedule", "exponential"},
                {"initial", initial},
                {"decay", std::pow(rate, 1 / steps)}};
  }
  if (name == "inversetimedecay" && rate > 0 && !flag(config, "staircase"))
    return Json{
        {"schedule", "inverse"}, {"initial", initial}, {"decay", rate / steps}};
  if (name == "cosinedecay" && number(config, {"warmup_steps"}, 0) == 0)
    return Json{
        {"schedule", "cosine"},
        {"initial", initial},
        {"limit", every},
        {"final", std::max(initial * number(config, {"alpha"}, 0), 0.0)}};
  if (name == "polynomialdecay" && !flag(config, "cycle") &&
      number(config, {"end_learning_rate"}, 1e-4) == 0 &&
      number(config, {"power"}, 1) > 0)
    return Json{{"schedule", "polynomial"},
                {"initial", initial},
                {"limit", every},
                {"power", number(config, {"power"}, 1)}};
  return std::nullopt;
}

Json rate_of(const Json& config, double fallback, Notes& notes) {
  const Json& rate = object_in(config, "learning_rate");
  if (!rate.empty()) {
    if (const auto schedule = schedule_of(rate)) return *schedule;
    notes.insert("the schedule " + in_quotes(class_of(rate)) +
                 " of the learning rate is left out");
    return number(object_in(rate, "config"), {"initial_learning_rate"},
                  fallback);
  }
  return std::max(number(config, {"learning_rate", "lr"}, fallback), 0.0);
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
    updater["type"] = momentum > 0 ? "nesterov" : "sgd";
    if (momentum > 0) updater["momentum"] = momentum;
    if (momentum > 0 && !flag(config, "nesterov"))
      notes.insert("its momentum is Nesterov's here");
  } else if (name == "adam") {
    updater = adam(flag(config, "amsgrad") ? "amsgrad" : "adam", config, 1e-7);
  } else if (name == "adamw") {
    updater = adam("adamw", config, 1e-7);
    updater["weight_decay"] = number(config, {"weight_decay"}, 0.004);
    notes.insert(
        "weight decay of its AdamW leaves biases, gamma and beta alone here");
  } else if (name == "adamax") {
    updater = adam("adamax", config, 1e-7);
  } else if (name == "nadam") {
    updater = adam("nadam", config, 1e-7);
    notes.insert("momentum of its Nadam grows more slowly here");
  } else if (name == "adagrad") {
    updater = {{"type", "adagrad"}, {"epsilon", epsilon}};
    const double start = number(config, {"initial_accumulator_value"}, 0);
    if (start > 0)
      notes.insert("its Adagrad starts with sums of " + dump_json(Json(start)) +
                   ", here they start at epsilon: first steps are larger");
  } else if (name == "rmsprop") {
    updater = {{"type", "rmsprop"},
               {"decay", number(config, {"rho"}, 0.9)},
               {"epsilon", epsilon}};
    notes.insert(
        "its RMSprop adds epsilon below the root, here it is added behind it");
    if (number(config, {"momentum"}, 0) > 0 || flag(config, "centered"))
      notes.insert("momentum and centering of its RMSprop are left out");
  } else if (name == "adadelta") {
    updater = {{"type", "adadelta"},
               {"decay", number(config, {"rho"}, 0.95)},
               {"epsilon", epsilon}};
  } else {
    return {};
  }
  updater["learning_rate"] = rate_of(config, rate, notes);
  return updater;
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
  if (number(config, {"global_clipnorm"}, 0) > 0)
    notes.insert("its global_clipnorm is left out");
  const double decay = number(config, {"weight_decay"}, 0);
  if (decay > 0 && name != "adamw")
    keys["regularization"] = {{"weight_decay", decay}};
}

}  // namespace

Training training_of(const Json& compiled,
                     const std::vector<std::string>& outputs,
                     const std::vector<Value>& values,
                     std::set<std::string>& notes) {
  Training training;
  const Json all = compiled.is_object() ? compiled : Json::object();
  for (std::size_t i = 0; i < values.size(); ++i)
    training.aims.push_back(
        aim_of(all, i, i < outputs.size() ? outputs[i] : "", values[i], notes));
  for (const char* key : {"optimizer", "optimizer_config"})
    if (all.contains(key) && !all[key].is_null())
      add_optimizer(all[key], training.keys, notes);
  return training;
}

}  // namespace dl::convert::keras
