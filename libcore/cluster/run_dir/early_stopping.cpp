// Patience and target over one metric.

#include "libcore/cluster/run_dir/early_stopping.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/eval/evaluation.h"

namespace dl::cluster {

Target Target::parse(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string number =
      equals == std::string::npos ? "" : text.substr(equals + 1);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (equals == 0 || number.empty() || *end != '\0' || !std::isfinite(value))
    throw Error{Code::kUsage,
                "--target: want METRIC=VALUE, got '" + displayed(text) + "'"};
  return {text.substr(0, equals), value};
}

EarlyStopping::EarlyStopping(bool higher_is_better, std::int64_t patience,
                             std::optional<double> target)
    : higher_is_better_(higher_is_better),
      patience_(patience),
      target_(target) {}

bool EarlyStopping::observe(std::int64_t epoch, double score) {
  const bool better =
      !std::isnan(score) &&
      (!best_ || (higher_is_better_ ? score > *best_ : score < *best_));
  without_ = better ? 0 : without_ + 1;
  if (better) {
    best_ = score;
    best_epoch_ = epoch;
  }
  return better;
}

bool EarlyStopping::reached() const {
  if (!best_ || !target_) return false;
  return higher_is_better_ ? *best_ >= *target_ : *best_ <= *target_;
}

std::string EarlyStopping::verdict(const std::string& metric) const {
  if (reached()) return "the target for " + metric + " is reached";
  if (patience_ > 0 && without_ >= patience_)
    return "no better " + metric + " for " + std::to_string(without_) +
           (without_ == 1 ? " epoch" : " epochs");
  return "";
}

Json EarlyStopping::to_json() const {
  return {{"best", best_ ? Json(*best_) : Json()},
          {"best_epoch", best_epoch_},
          {"without", without_}};
}

void EarlyStopping::restore(const JsonView& json) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const JsonView best = json.at("best");
  best_.reset();
  if (!best.raw().is_null()) best_ = best.number();
  best_epoch_ = json.at("best_epoch").integer(-1, kMost);
  without_ = json.at("without").integer(0, kMost);
}

EarlyStopping early_stopping_of(const Settings& settings,
                                const RunState& state) {
  std::optional<double> target;
  if (!settings.target.empty()) target = Target::parse(settings.target).value;
  const bool higher = !settings.metric.empty() && settings.metric != "loss" &&
                      eval::higher_is_better(settings.metric);
  EarlyStopping result(higher, settings.patience, target);
  if (!state.early_stopping.is_null())
    result.restore(
        JsonView(state.early_stopping, Code::kData, "early_stopping"));
  return result;
}

}  // namespace dl::cluster
