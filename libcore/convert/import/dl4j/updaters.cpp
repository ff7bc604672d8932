// Updaters and schedules of DL4J.

#include <cmath>
#include <optional>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {
namespace {

std::optional<std::int64_t> whole(double value) {
  if (!(value >= 1 && value < 2147483647) || std::round(value) != value)
    return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<Json> map_of(const Json& schedule) {
  const Json& values = member(schedule, "values");
  if (!values.is_object() || !values.contains("0")) return std::nullopt;
  Json ours = Json::object();
  for (const auto& [at, value] : values.items()) {
    if (!value.is_number() || value.get<double>() < 0) return std::nullopt;
    ours[at] = value;
  }
  return Json{{"schedule", "map"}, {"values", ours}};
}

// One of ours, or none.
std::optional<Json> shape_of(const Site& site, const Json& schedule) {
  const std::string name = class_of(schedule, "schedule");
  const double initial = number_in(schedule, "initialValue", 0.001);
  const double gamma = number_in(schedule, "gamma", 0.1);
  const double power = number_in(schedule, "power", 1);
  if (!(initial >= 0)) return std::nullopt;
  if (name == "map") return map_of(schedule);
  if (name == "exponential" && gamma > 0)
    return Json{
        {"schedule", "exponential"}, {"initial", initial}, {"decay", gamma}};
  if (name == "inverse" && gamma > 0 && power > 0)
    return Json{{"schedule", "inverse"},
                {"initial", initial},
                {"decay", gamma},
                {"power", power}};
  if (name == "step") {
    const double decay = number_in(schedule, "decayRate", 0.1);
    const auto every = whole(number_in(schedule, "step", 1));
    if (!every || !(decay > 0)) return std::nullopt;
    return Json{{"schedule", "step"},
                {"initial", initial},
                {"decay", decay},
                {"every", *every}};
  }
  if (name == "poly") {
    const auto limit = whole(number_in(schedule, "maxIter", 1));
    if (!limit || !(power > 0)) return std::nullopt;
    site.note(
        "its PolySchedule falls to 0 here, as it is documented; DL4J's grows");
    return Json{{"schedule", "polynomial"},
                {"initial", initial},
                {"limit", *limit},
                {"power", power}};
  }
  if (name == "sigmoid") {  // theirs rises unless gamma is negative
    const auto middle = whole(number_in(schedule, "stepSize", 1));
    if (!middle || !(gamma < 0)) return std::nullopt;
    return Json{{"schedule", "sigmoid"},
                {"initial", initial},
                {"decay", -gamma},
                {"middle", *middle}};
  }
  if (name == "cycle") {
    const auto length = whole(number_in(schedule, "cycleLength", 1));
    const double annealing = number_in(schedule, "annealingLength", 0);
    const double peak = number_in(schedule, "maxLearningRate", initial);
    const double decay = number_in(schedule, "annealingDecay", 0.1);
    if (!length || !(annealing >= 0) ||
        annealing >= static_cast<double>(*length) || !(decay > 0 && decay <= 1))
      return std::nullopt;
    if (annealing > 0)
      site.note(
          "the end of its CycleSchedule falls more slowly here: DL4J takes the "
          "annealingDecay at each step");
    return Json{
        {"schedule", "cycle"},
        {"initial", number_in(schedule, "initialLearningRate", 0.1 * peak)},
        {"peak", peak},
        {"length", *length},
        {"annealing", annealing / static_cast<double>(*length)},
        {"decay", decay}};
  }
  return std::nullopt;
}

// A number, or a schedule of ours.
Json value_of(const Site& site, const Json& schedule, double fallback) {
  if (schedule.is_null()) return fallback;
  const std::string name = class_of(schedule, "schedule");
  if (name == "fixed") return number_in(schedule, "value", fallback);
  if (name == "ramp") {
    Json base = value_of(site, member(schedule, "baseSchedule"), fallback);
    const auto warmup = whole(number_in(schedule, "numIter", 0));
    if (base.is_number()) base = {{"schedule", "fixed"}, {"initial", base}};
    if (warmup) base["warmup"] = *warmup;
    return base;
  }
  if (auto ours = shape_of(site, schedule)) {
    if (member(schedule, "scheduleType") == Json("EPOCH")) {
      (*ours)["by"] = "epoch";
      const std::int64_t passed = site.import().conf->epoch;
      if (passed > 0)
        site.note("its schedule goes by epochs, of which " +
                  std::to_string(passed) +
                  " have passed: here it starts with the first");
    }
    return *ours;
  }
  site.note("its schedule " + in_quotes(shown_class(schedule)) +
            " is none that networks here have, and is left out");
  return number_in(schedule, "initialValue", fallback);
}

struct Known {
  std::string_view theirs, ours;
  double rate;
  std::vector<int> state;  // ours, for each of theirs
};

const Known* find(const Json& updater) {
  static const std::vector<Known> all{
      {"sgd", "sgd", 1e-3, {}},
      {"nesterovs", "nesterov", 0.1, {0}},
      {"adagrad", "adagrad", 0.1, {0}},
      {"rmsprop", "rmsprop", 0.1, {0}},
      // theirs [gradients, updates], ours [updates, gradients]
      {"adadelta", "adadelta", 1, {1, 0}},
      {"adam", "adam", 1e-3, {0, 1}},
      {"adamax", "adamax", 1e-3, {0, 1}},
      {"nadam", "nadam", 1e-3, {0, 1}},
      {"amsgrad", "amsgrad", 1e-3, {0, 1, 2}},
      {"adabelief", "adabelief", 1e-3, {0, 1}}};
  const std::string name = class_of(updater);
  for (const Known& known : all)
    if (name == known.theirs) return &known;
  return nullptr;
}

}  // namespace

std::vector<int> state_of(const Json& updater) {
  const Known* known = find(updater);
  return known == nullptr ? std::vector<int>{} : known->state;
}

Json updater_of(const Site& site, const Json& updater) {
  Json nothing{{"type", "sgd"}, {"learning_rate", 0.0}};
  if (updater.is_null() || class_of(updater) == "noop") return nothing;
  const Known* known = find(updater);
  if (known == nullptr) {
    site.note("its updater " + in_quotes(shown_class(updater)) +
              " is none that networks here have; sgd takes its place");
    return {{"type", "sgd"},
            {"learning_rate", number_in(updater, "learningRate", 1e-3)}};
  }
  const std::string name(known->ours);
  Json ours{{"type", name}};
  const auto put = [&](const char* key, const char* from, double fallback) {
    ours[key] = number_in(updater, from, fallback);
  };
  if (name != "adadelta")
    ours["learning_rate"] =
        value_of(site, member(updater, "learningRateSchedule"),
                 number_in(updater, "learningRate", known->rate));
  if (name == "nesterov") {
    Json momentum = member(updater, "momentumISchedule");
    if (momentum.is_null()) momentum = member(updater, "momentumSchedule");
    ours["momentum"] = value_of(site, momentum.is_object() ? momentum : Json(),
                                number_in(updater, "momentum", 0.9));
  } else if (name == "adagrad") {
    put("epsilon", "epsilon", 1e-6);
  } else if (name == "rmsprop") {
    put("decay", "rmsDecay", 0.95);
    put("epsilon", "epsilon", 1e-8);
  } else if (name == "adadelta") {
    put("decay", "rho", 0.95);
    put("epsilon", "epsilon", 1e-6);
  } else if (name != "sgd") {
    put("beta1", "beta1", 0.9);
    put("beta2", "beta2", 0.999);
    put("epsilon", "epsilon", name == "adabelief" ? 1e-14 : 1e-8);
    if (name == "adamax") ours["epsilon"] = 1e-32;
    if (name == "nadam")
      site.note(
          "nadam here corrects both of its means, as Dozat's paper does; "
          "DL4J's "
          "does not");
  }
  return ours;
}

}  // namespace dl::convert::dl4j
