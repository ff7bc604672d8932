// Learning rates of Keras that change, as schedules of dl-network(5).

#include <algorithm>
#include <cmath>

#include "libcore/convert/import/keras/compiled.h"

namespace dl::convert::keras {

namespace {

// A number of steps; none if it is not whole, or out of what schedules take.
std::optional<std::int64_t> steps_of(const Json& config, const char* key,
                                     double fallback) {
  const double steps = number(config, {key}, fallback);
  if (!(steps >= 1 && steps < 2147483647) || steps != std::floor(steps))
    return std::nullopt;
  return static_cast<std::int64_t>(steps);
}

// It warms up where it says to which rate.
std::optional<Json> cosine(const Json& config, double initial) {
  const auto limit = steps_of(config, "decay_steps", 1);
  const double top = number(config, {"warmup_target"}, initial);
  const double alpha = number(config, {"alpha"}, 0);
  if (!limit || !(top >= 0) || !(alpha >= 0)) return std::nullopt;
  Json schedule{{"schedule", "cosine"},
                {"initial", top},
                {"limit", *limit},
                {"final", top * alpha}};
  const double warmup = number(config, {"warmup_steps"}, 0);
  if (!config.value("warmup_target", Json()).is_number() || warmup == 0)
    return schedule;
  const auto whole = steps_of(config, "warmup_steps", 0);
  if (!whole) return std::nullopt;
  schedule["warmup"] = *whole;
  schedule["warmup_from"] = initial;
  return schedule;
}

std::optional<Json> restarts(const Json& config, double initial) {
  const auto limit = steps_of(config, "first_decay_steps", 1);
  const double alpha = number(config, {"alpha"}, 0);
  const double growth = number(config, {"t_mul"}, 2);
  const double decay = number(config, {"m_mul"}, 1);
  if (!limit || !(alpha >= 0) || !(growth >= 1 && growth <= 1000) ||
      !(decay > 0))
    return std::nullopt;
  return Json{{"schedule", "cosine"}, {"initial", initial},
              {"limit", *limit},      {"final", initial * alpha},
              {"growth", growth},     {"decay", decay}};
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

std::optional<Json> schedule_of(const Json& json) {
  const std::string name = plain(class_of(json));
  const Json& config = object_in(json, "config");
  if (name == "piecewiseconstantdecay") return pieces(config);
  const double initial = number(config, {"initial_learning_rate"}, 0.01);
  if (!(initial >= 0)) return std::nullopt;
  if (name == "cosinedecay") return cosine(config, initial);
  if (name == "cosinedecayrestarts") return restarts(config, initial);
  const bool staircase = flag(config, "staircase");
  const double steps = number(config, {"decay_steps"}, 1);
  const double rate = number(config, {"decay_rate"}, 0.9);
  const auto every = steps_of(config, "decay_steps", 1);
  if (name == "polynomialdecay" && !flag(config, "cycle") && every &&
      number(config, {"power"}, 1) > 0)
    return Json{
        {"schedule", "polynomial"},
        {"initial", initial},
        {"limit", *every},
        {"final", std::max(number(config, {"end_learning_rate"}, 1e-4), 0.0)},
        {"power", number(config, {"power"}, 1)}};
  if (!(steps > 0) || !(rate > 0) || (staircase && !every)) return std::nullopt;
  if (name == "exponentialdecay" && staircase)
    return Json{{"schedule", "step"},
                {"initial", initial},
                {"decay", rate},
                {"every", *every}};
  if (name == "exponentialdecay")
    return Json{{"schedule", "exponential"},
                {"initial", initial},
                {"decay", std::pow(rate, 1 / steps)}};
  if (name != "inversetimedecay") return std::nullopt;
  Json inverse{{"schedule", "inverse"},
               {"initial", initial},
               {"decay", staircase ? rate : rate / steps}};
  if (staircase) inverse["every"] = *every;
  return inverse;
}

}  // namespace dl::convert::keras
