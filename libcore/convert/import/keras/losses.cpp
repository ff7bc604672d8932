// The losses that a Keras model was compiled with, and what they count.

#include <algorithm>
#include <cmath>

#include "libcore/base/display.h"
#include "libcore/convert/import/keras/compiled.h"

namespace dl::convert::keras {
namespace {

// A loss here, and what it is divided by to be Keras's, which takes the mean of
// what is the sum here.
struct Loss {
  Json ours;
  bool mean = false;
  bool of_classes = false;
};

Loss loss_of(const Json& json) {
  const std::string name = plain(class_of(json));
  const Json& config = object_in(json, "config");
  if (name == "categoricalcrossentropy" ||
      name == "sparsecategoricalcrossentropy")
    return {"negative_log_likelihood", false, true};
  if (name == "binarycrossentropy") return {"binary_cross_entropy", true, true};
  if (name == "categoricalfocalcrossentropy")
    return {Json{{"type", "focal"},
                 {"gamma", number(config, {"gamma"}, 2)},
                 {"alpha", number(config, {"alpha"}, 0.25)}},
            false, true};
  if (name == "binaryfocalcrossentropy") {
    Json ours{{"type", "binary_focal"},
              {"gamma", number(config, {"gamma"}, 2)}};
    if (flag(config, "apply_class_balancing"))
      ours["alpha"] = number(config, {"alpha"}, 0.25);
    return {ours, true, true};
  }
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

// The part for output i of settings that are one for all, one for each, or by
// name.
Json part_of(const Json& all, std::size_t i, const std::string& name) {
  if (all.is_array()) return i < all.size() ? all[i] : Json();
  if (all.is_object() && !all.contains("class_name"))
    return all.contains(name) ? all[name] : Json();
  return all;
}

// Adds keys of a loss of classes or probabilities: what it does with labels and
// outputs.
void add_class_keys(const Json& config, const std::string& output, Aim& aim,
                    Notes& notes) {
  const double smoothing = number(config, {"label_smoothing"}, 0);
  if (smoothing >= 1)
    notes.insert(output + " smooths labels to nothing, which is left out");
  else if (smoothing > 0)
    aim.keys["label_smoothing"] = smoothing;
  if (flag(config, "from_logits")) aim.keys["from_logits"] = true;
  if (!config.value("ignore_class", Json()).is_null())
    notes.insert(output +
                 " ignores a class, which is left out: a labels_mask that is "
                 "0 there does it");
}

// Behind what a layer masks, Keras takes the mean over the steps that count; up
// to version 2.9, tf.keras took it over all.
bool counts_all_steps(const std::string& version) {
  if (version.find("-tf") != std::string::npos) return true;
  for (const char* old : {"2.4.", "2.5.", "2.6.", "2.7.", "2.8.", "2.9."})
    if (version.starts_with(old)) return true;
  return false;
}

double weight_of(const Json& compiled, std::size_t i, const std::string& name,
                 const std::string& output, Notes& notes) {
  const auto weights = compiled.find("loss_weights");
  if (weights == compiled.end()) return 1;
  const Json own = part_of(*weights, i, name);
  if (own.is_null()) return 1;
  if (own.is_number() && own.get<double>() >= 0) return own.get<double>();
  notes.insert(output + " has a weight that is no number from 0 on, and is 1");
  return 1;
}

}  // namespace

Aim aim_of(const Json& compiled, std::size_t i, const std::string& name,
           const Flow& value, const std::string& version, Notes& notes) {
  Aim aim;
  const auto losses = compiled.find("loss");
  if (losses == compiled.end()) return aim;
  const Json given = part_of(*losses, i, name);
  if (given.is_null()) return aim;
  const Json& config = object_in(given, "config");
  const Loss loss = loss_of(given);
  const std::string output = "the loss of the output " + in_quotes(name);
  if (loss.ours.is_null()) {
    notes.insert(output + ", " + in_quotes(class_of(given)) +
                 ", is none that networks here have, and is left out");
    return aim;
  }
  if (value.shape().back() < 2 &&
      (loss.ours == "cosine_proximity" || loss.ours == "categorical_hinge")) {
    notes.insert(output + ", " + in_quotes(class_of(given)) +
                 ", compares values, of which there is one, and is left out");
    return aim;
  }
  aim.loss = loss.ours;
  if (loss.of_classes) add_class_keys(config, output, aim, notes);
  if (aim.loss == "categorical_hinge")
    notes.insert(output +
                 " takes 0 for the largest of the other classes where all are "
                 "less in Keras, here it is less");
  const Json reduction = config.value("reduction", Json());
  if (reduction == Json("sum"))
    notes.insert(output + " is a sum over the mini-batch, here it is the mean");
  // The mean over the places of a sequence or image, the sum here.
  double count = loss.mean ? static_cast<double>(value.shape().back()) : 1;
  if (value.masked && !counts_all_steps(version))
    aim.keys["mean_over"] = "steps";
  else
    for (int k = 0; k + 1 < value.shape().rank(); ++k)
      count *= static_cast<double>(value.shape()[k]);
  aim.loss_weight = weight_of(compiled, i, name, output, notes) / count;
  return aim;
}

}  // namespace dl::convert::keras
