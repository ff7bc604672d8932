// Learning rates of Keras that change, as schedules of dl-network(5).

#include <algorithm>
#include <cmath>

#include "libcore/convert/import/keras/compiled.h"

namespace dl::convert::keras {

namespace {

// Here a schedule runs on behind its warm-up, in Keras it begins behind it.
Json cosine(const Json& config, double initial, std::int64_t every,
            Notes& notes) {
  Json schedule{{"schedule", "cosine"}};
  const double top = std::max(number(config, {"warmup_target"}, initial), 0.0);
  const double warmup = std::round(number(config, {"warmup_steps"}, 0));
  const bool warms_up = config.value("warmup_target", Json()).is_number();
  if (warms_up && warmup >= 1 && warmup < 1e9) {
    every += static_cast<std::int64_t>(warmup);
    schedule["warmup"] = static_cast<std::int64_t>(warmup);
    notes.insert(
        "the learning rate of its CosineDecay rises from " +
        dump_json(Json(initial)) +
        " in a straight line and falls behind that, here it rises from 0 and "
        "falls from the beginning on");
  }
  schedule["initial"] = top;
  schedule["limit"] = std::min<std::int64_t>(every, 2147483647);
  schedule["final"] = std::max(top * number(config, {"alpha"}, 0), 0.0);
  return schedule;
}

// Keras counts a step that is a boundary to what lies before it.
std::optional<Json> pieces(const Json& config) {
  const Json bounds = config.value("boundaries", Json()),
             values = config.value("values", Json());
  if (!bounds.is_array() || !values.is_array() ||
      values.size() != bounds.size() + 1)
    return std::nullopt;
  Json map = Json::object();
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Json from = k == 0 ? Json(-1) : bounds[k - 1];
    if (!values[k].is_number() || !(values[k].get<double>() >= 0) ||
        !from.is_number() ||
        !(from.get<double>() >= -1 && from.get<double>() < 2147483647))
      return std::nullopt;
    const auto first = static_cast<std::int64_t>(from.get<double>()) + 1;
    map[std::to_string(first)] = values[k];
  }
  return Json{{"schedule", "map"}, {"values", map}};
}

}  // namespace

std::optional<Json> schedule_of(const Json& json, Notes& notes) {
  const std::string name = plain(class_of(json));
  const Json& config = object_in(json, "config");
  if (name == "piecewiseconstantdecay") return pieces(config);
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
  if (name == "cosinedecay") return cosine(config, initial, every, notes);
  if (name == "polynomialdecay" && !flag(config, "cycle") &&
      number(config, {"power"}, 1) > 0)
    return Json{
        {"schedule", "polynomial"},
        {"initial", initial},
        {"limit", every},
        {"final", std::max(number(config, {"end_learning_rate"}, 1e-4), 0.0)},
        {"power", number(config, {"power"}, 1)}};
  return std::nullopt;
}

}  // namespace dl::convert::keras
