// Rules by which the threshold of gradient sharing follows the density of what
// was sent.
//
// fixed, adaptive and target have the names and rules of Deeplearning4j's
// FixedThresholdAlgorithm, AdaptiveThresholdAlgorithm and
// TargetSparsityThresholdAlgorithm, and the defaults of densities and decay.
// The first threshold of `adaptive` is, unless it is given, that at which the
// first messages have max_density (there 1e-4, at which a network that Adam
// trains with its usual rate of 1e-3 sends every element for a hundred
// messages), and the density stays above half of that: what one of many workers
// holds back comes too late.  Density is what was sent, quanta per element.
//
// quantile takes the threshold of its density from a sample of each update.
// threshold_control.h applies the rules to the parts of a vector.

#ifndef DL_LIBCORE_EXCHANGE_RULES_THRESHOLD_RULE_H_
#define DL_LIBCORE_EXCHANGE_RULES_THRESHOLD_RULE_H_

#include <cstdint>
#include <string_view>

#include "libcore/base/json.h"
#include "libcore/base/names.h"

namespace dl::exchange {

// Thresholds stay in this range, so that they can always be encoded.
constexpr double kMinThreshold = 1e-12, kMaxThreshold = 1e12;

struct ThresholdRule {
  enum class Kind { kFixed, kAdaptive, kTarget, kQuantile };
  Kind kind = Kind::kAdaptive;
  double initial = 1e-3;  // for adaptive, 0: the first messages find it
  // For adaptive: the threshold falls below min_density and rises above
  // max_density.  For target and quantile both are the target.
  double min_density = 1e-4;
  double max_density = 1e-2;
  // For adaptive and target: factor of one step, 0.5^(1/20).
  double decay = 0.965936328924846;

  // Whether the rule has one density to reach.
  bool has_target() const {
    return kind == Kind::kTarget || kind == Kind::kQuantile;
  }

  bool finds_first() const { return kind == Kind::kAdaptive && initial == 0; }

  // For fixed, adaptive and target: the threshold that follows one with this
  // density (quanta per element).
  double next(double threshold, double density) const;

  // "fixed:1e-3", "adaptive", "adaptive:1e-4" (with its first threshold),
  // "target", "target:1e-3", "quantile", "quantile:1e-3" (the density; without
  // it, 1e-3).
  // Throws Error: kUsage.
  static ThresholdRule parse(std::string_view text);
  Json to_json() const;
  // Throws Error with the code of the view: unknown keys, values out of range.
  static ThresholdRule from_json(const JsonView& json);
  bool operator==(const ThresholdRule&) const = default;
};

constexpr Names<ThresholdRule::Kind, 4> kThresholdNames{
    {{{ThresholdRule::Kind::kFixed, "fixed"},
      {ThresholdRule::Kind::kAdaptive, "adaptive"},
      {ThresholdRule::Kind::kTarget, "target"},
      {ThresholdRule::Kind::kQuantile, "quantile"}}}};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RULES_THRESHOLD_RULE_H_
