// Values of schedules, and updater settings for many workers.

#include "libcore/nn/update/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "libcore/nn/config/config.h"
#include "libcore/nn/config/config_table.h"

namespace dl::nn {
namespace {

// Lower limit with many workers: means of squares are over ten of a worker's
// own steps at least.
constexpr double kLeastBeta2 = 0.9;

// One rise and one fall of equal length, then below initial to the share
// `decay` of it.
double cycle(const Schedule& s, double i) {
  const double annealing = s.annealing * s.length;
  const double half = (s.length - annealing) / 2;
  const double at = std::fmod(i, s.length);
  if (at < half) return s.initial + (s.peak - s.initial) * at / half;
  if (at < 2 * half) return s.peak - (s.peak - s.initial) * (at - half) / half;
  return s.initial * std::pow(s.decay, (at - 2 * half) / annealing);
}

// The number of the cosine that i is in, and how much of it is behind.
std::pair<double, double> place(const Schedule& s, double i) {
  const double lengths = i / s.limit;
  if (s.growth == 0) return {0, std::min(lengths, 1.0)};
  if (s.growth == 1)
    return {std::floor(lengths), lengths - std::floor(lengths)};
  // Cosines before the n-th are (growth^n - 1) / (growth - 1) times as long as
  // the first.
  const double all = 1 + lengths * (s.growth - 1);
  double n = std::floor(std::log(all) / std::log(s.growth));
  if (all >= std::pow(s.growth, n + 1)) ++n;  // rounded down
  const double own = std::pow(s.growth, n);
  return {n, (all - own) / (own * (s.growth - 1))};
}

double cosine(const Schedule& s, double i) {
  const auto [n, behind] = place(s, i);
  const double top = s.decay > 0 ? std::pow(s.decay, n) : 1;
  if (behind == 1) return s.last;
  const double share = (1 + std::cos(std::numbers::pi * behind)) / 2;
  return s.last + (s.initial - s.last) * top * share;
}

double mapped(const Schedule& s, std::int64_t i) {
  const auto after = std::ranges::upper_bound(
      s.values, i, {}, [](const auto& value) { return value.first; });
  return std::prev(after)->second;
}

double without_warmup(const Schedule& s, std::int64_t count) {
  const auto i = static_cast<double>(count);
  switch (s.kind) {
    case Schedule::Kind::kFixed:
      break;
    case Schedule::Kind::kStep:
      return s.initial * std::pow(s.decay, std::floor(i / s.every));
    case Schedule::Kind::kExponential:
      return s.initial * std::pow(s.decay, i);
    case Schedule::Kind::kPolynomial:
      return i >= s.limit ? s.last
                          : s.last + (s.initial - s.last) *
                                         std::pow(1 - i / s.limit, s.power);
    case Schedule::Kind::kInverse:
      return s.initial /
             std::pow(1 + s.decay * std::floor(i / s.every), s.power);
    case Schedule::Kind::kSigmoid:
      return s.initial / (1 + std::exp(s.decay * (i - s.middle)));
    case Schedule::Kind::kCosine:
      return cosine(s, i);
    case Schedule::Kind::kCycle:
      return cycle(s, i);
    case Schedule::Kind::kMap:
      return mapped(s, count);
  }
  return s.initial;
}

double largest_behind_warmup(const Schedule& s) {
  using Kind = Schedule::Kind;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (s.kind) {
    case Kind::kStep:
    case Kind::kExponential:
      return s.decay > 1 && s.initial > 0 ? kInfinity : s.initial;
    case Kind::kCosine:
      return s.growth > 0 && s.decay > 1 && s.initial > s.last
                 ? kInfinity
                 : std::max(s.initial, s.last);
    case Kind::kPolynomial:
      return std::max(s.initial, s.last);
    case Kind::kCycle:
      return std::max(s.initial, s.peak);
    case Kind::kMap:
      return std::ranges::max_element(
                 s.values, {}, [](const auto& value) { return value.second; })
          ->second;
    default:
      return s.initial;
  }
}

// The members that keys of schedules are, but for those of other types.
struct Member {
  const char* key;
  double Schedule::*number;
};
constexpr Member kMembers[] = {
    {"initial", &Schedule::initial}, {"decay", &Schedule::decay},
    {"every", &Schedule::every},     {"power", &Schedule::power},
    {"limit", &Schedule::limit},     {"middle", &Schedule::middle},
    {"final", &Schedule::last},      {"peak", &Schedule::peak},
    {"length", &Schedule::length},   {"annealing", &Schedule::annealing},
    {"growth", &Schedule::growth}};

// Whether it is what it is where the key is not given.
bool is_usual(const Member& member, double value, const Key& key) {
  return key.fallback.starts_with('(') && value == Schedule{}.*member.number;
}

}  // namespace

double Schedule::at(std::int64_t iteration, std::int64_t epoch) const {
  const std::int64_t i = by_epoch ? epoch : iteration;
  if (warmup_from && i >= warmup) return without_warmup(*this, i - warmup);
  if (warmup_from)
    return *warmup_from + (without_warmup(*this, 0) - *warmup_from) *
                              static_cast<double>(i) /
                              static_cast<double>(warmup);
  const double value = without_warmup(*this, i);
  if (i + 1 >= warmup) return value;
  return value * static_cast<double>(i + 1) / static_cast<double>(warmup);
}

double Schedule::largest() const {
  const double most = largest_behind_warmup(*this);
  return warmup_from && warmup > 0 ? std::max(most, *warmup_from) : most;
}

Schedule schedule_of(const Json& json) {
  Schedule schedule;
  if (json.is_number()) {
    schedule.initial = json.get<double>();
    return schedule;
  }
  const LayerSettings given(json, "schedule");
  schedule.kind = given.one_of<Schedule::Kind>("schedule");
  schedule.by_epoch = given.at("by") == "epoch";
  schedule.warmup = given.integer("warmup");
  if (given.has("warmup_from"))
    schedule.warmup_from = given.number("warmup_from");
  for (const Member& member : kMembers)
    if (given.has(member.key))
      schedule.*member.number = given.number(member.key);
  if (given.has("values"))
    for (const auto& [key, value] : given.at("values").items())
      schedule.values.emplace_back(std::stoll(key), value.get<double>());
  std::ranges::sort(schedule.values);
  return schedule;
}

Json to_json(const Schedule& schedule) {
  if (schedule.kind == Schedule::Kind::kFixed && schedule.warmup == 0)
    return schedule.initial;
  const std::string tag(spell(schedule.kind));
  Json json{{"schedule", tag},
            {"by", schedule.by_epoch ? "epoch" : "iteration"}};
  if (schedule.warmup > 0) json["warmup"] = schedule.warmup;
  if (schedule.warmup > 0 && schedule.warmup_from)
    json["warmup_from"] = *schedule.warmup_from;
  for (const Member& member : kMembers)
    if (const Key* key = find_key("schedule", tag, member.key)) {
      const double value = schedule.*member.number;
      if (is_usual(member, value, *key)) continue;
      if (key->kind == Kind::kInteger)
        json[member.key] = static_cast<std::int64_t>(value);
      else
        json[member.key] = value;
    }
  for (const auto& [from, value] : schedule.values)
    json["values"][std::to_string(from)] = value;
  return json;
}

device::UpdaterStep UpdaterConfig::step(std::int64_t iteration,
                                        std::int64_t epoch,
                                        std::int64_t beside) const {
  device::UpdaterStep step = {
      .kind = kind,
      .learning_rate = learning_rate.at(iteration, epoch),
      .momentum = momentum.at(iteration, epoch),
      .beta1 = beta1,
      .beta2 = beta2,
      .epsilon = epsilon,
      .epsilon_at = epsilon_at,
      .start = start,
      .momentum_decay = momentum_decay,
      .step = iteration + 1};
  if (beside == 1) return step;
  const auto shared = [&](double alone) {
    return std::max(0.0, 1 - (1 - alone) * static_cast<double>(beside));
  };
  const double whole = 1 - step.momentum;
  step.momentum = shared(step.momentum);
  // AdaBelief divides by what a gradient differs from the mean.
  if (kind != device::Updater::kAdaBelief) step.beta1 = shared(step.beta1);
  // A mean of squares reaches as far back.
  step.beta2 = std::max(shared(step.beta2), std::min(step.beta2, kLeastBeta2));
  // Each worker has a part of the sum of squares by whose root it divides.
  if (kind == device::Updater::kAdaGrad)
    step.learning_rate /= std::sqrt(static_cast<double>(beside));
  // The total movement of parameters by a gradient stays the same.
  if (kind == device::Updater::kNesterov || kind == device::Updater::kMomentum)
    step.learning_rate *= (1 - step.momentum) / whole;
  return step;
}

}  // namespace dl::nn
