// Exchange options of the command line, turned into settings.

#include "libcore/cluster/settings/exchange_options.h"

#include <algorithm>

#include "libcore/cluster/settings/option_values.h"

namespace dl::cluster {

namespace {

using exchange::OuterOptimizer;
using Kind = OuterOptimizer::Kind;

// Methods of --outer: the methods as they were published.
enum class Method { kPlain, kMomentum, kNesterov, kBmuf, kDiloco };
constexpr Names<Method, 5> kMethodNames{{{{Method::kPlain, "plain"},
                                          {Method::kMomentum, "momentum"},
                                          {Method::kNesterov, "nesterov"},
                                          {Method::kBmuf, "bmuf"},
                                          {Method::kDiloco, "diloco"}}}};

AveragingSettings published(Method method, bool adaptive) {
  AveragingSettings s;
  switch (method) {
    case Method::kPlain:  // Deeplearning4j's parameter averaging
      break;
    case Method::kMomentum:
      s.outer = {Kind::kMomentum, 1, 0.9};
      break;
    case Method::kNesterov:
      s.outer = {Kind::kNesterov, 1, 0.9};
      break;
    case Method::kBmuf:  // Chen and Huo 2016
      s.outer = {Kind::kNesterov, 1, 0};
      s.momentum_of_replicas = true;
      s.frequency = 50;
      // Momentum starts afresh as published.  Adaptive updaters with fresh
      // state start with steps that are far too large.
      s.updater_state = adaptive ? UpdaterState::kKeep : UpdaterState::kReset;
      break;
    case Method::kDiloco:  // Douillard et al. 2023
      s.outer = {Kind::kNesterov, 0.7, 0.9};
      s.frequency = 500;
      s.updater_state = UpdaterState::kKeep;
      break;
  }
  return s;
}

}  // namespace

AveragingSettings settings_of(const AveragingOptions& options, bool adaptive) {
  AveragingSettings s =
      published(one_of("--outer", options.outer, kMethodNames), adaptive);
  if (in_range("--frequency", options.frequency, 0) > 0)
    s.frequency = options.frequency;
  s.workers = in_range("--workers", options.workers, 0);
  s.overlap = options.overlap;
  s.alone = options.alone;
  if (s.overlap && s.updater_state == UpdaterState::kAverage)
    s.updater_state = UpdaterState::kKeep;
  if (!options.updater_state.empty())
    s.updater_state =
        one_of("--updater-state", options.updater_state, kUpdaterStateNames);
  if (s.overlap && s.updater_state == UpdaterState::kAverage)
    bad_usage("--overlap needs --updater-state keep or reset");
  if (options.outer_rate < 0) bad_usage("--outer-rate: want a positive number");
  if (options.outer_rate > 0) s.outer.rate = options.outer_rate;
  if (options.outer_momentum >= 0) {
    if (!s.outer.has_velocity())
      bad_usage("--outer-momentum needs --outer momentum or nesterov");
    s.outer.momentum = options.outer_momentum;
    s.momentum_of_replicas = false;
  }
  if (!(s.outer.momentum < 1))
    bad_usage("--outer-momentum: want a number below 1");
  s.delta = parse_rule<exchange::DeltaFormat>("--delta", options.delta);
  return s;
}

SharingSettings settings_of(const SharingOptions& options) {
  SharingSettings s;
  s.threshold =
      parse_rule<exchange::ThresholdRule>("--threshold", options.threshold);
  s.per_tensor = yes_or_no("--per-tensor", options.per_tensor);
  s.warmup = in_range("--warmup", options.warmup, 0);
  if (!(options.clip > 0)) bad_usage("--clip: want a positive number");
  s.clip_multiple = options.clip;
  s.clip_every = in_range("--clip-every", options.clip_every, 0);
  s.share = one_of("--share", options.share, kShareNames);
  s.masking = yes_or_no("--masking", options.masking);
  s.combine = one_of("--combine", options.combine, kCombineNames);
  s.in_flight = std::max<std::int64_t>(
      in_range("--in-flight", options.in_flight, 0, 1024), 1);
  s.staleness_rule = parse_rule<exchange::StalenessRule>(
      "--staleness-rule", options.staleness_rule);
  if (options.staleness != "none") {
    const bool digits =
        !options.staleness.empty() && options.staleness.size() <= 9 &&
        options.staleness.find_first_not_of("0123456789") == std::string::npos;
    if (!digits)
      bad_usage("--staleness: want none or a count, got '" + options.staleness +
                "'");
    s.staleness = std::stoll(options.staleness);
  }
  s.push = in_range("--push", options.push, 1);
  s.fetch = in_range("--fetch", options.fetch, 1);
  if (s.staleness && (s.push > 1 || s.fetch > 1))
    bad_usage(
        "--staleness counts mini-batch by mini-batch: it does not go with "
        "--push or --fetch");
  s.agree_every = in_range("--agree-every", options.agree_every, 0);
  return s;
}

}  // namespace dl::cluster
