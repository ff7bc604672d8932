// How the threshold of gradient sharing follows the density of what was sent.
//
// Names and rules are Deeplearning4j's FixedThresholdAlgorithm,
// AdaptiveThresholdAlgorithm and TargetSparsityThresholdAlgorithm, and so are
// the defaults of densities and decay.  The first threshold is 1e-3 (there
// 1e-4).  Density is what was sent, quanta per element, in both codes.

#ifndef DL_LIBCORE_EXCHANGE_THRESHOLD_RULE_H_
#define DL_LIBCORE_EXCHANGE_THRESHOLD_RULE_H_

#include <cstdint>
#include <string_view>

#include "libcore/base/json.h"

namespace dl::exchange {

// Thresholds stay in this range, so that they can be encoded whatever comes.
constexpr double kMinThreshold = 1e-12, kMaxThreshold = 1e12;

struct ThresholdRule {
  enum class Kind { kFixed, kAdaptive, kTarget };
  Kind kind = Kind::kAdaptive;
  double initial = 1e-3;
  double min_density = 1e-4;  // adaptive: below it the threshold falls,
  double max_density = 1e-2;  // above it it rises; target: both are the target
  double decay = 0.965936328924846;  // 0.5^(1/20): factor of one step

  // The threshold after one that gave `density` (quanta per element).
  double next(double threshold, double density) const;

  // "fixed:1e-3", "adaptive", "adaptive:1e-4" (the first threshold),
  // "target", "target:1e-3" (the density; without it, 1e-3).
  // Throws Error: kUsage.
  static ThresholdRule parse(std::string_view text);
  Json to_json() const;
  // Throws Error with the code of the view: unknown keys, values out of range.
  static ThresholdRule from_json(const JsonView& json);
  bool operator==(const ThresholdRule&) const = default;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_THRESHOLD_RULE_H_
