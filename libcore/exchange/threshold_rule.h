// How the threshold of gradient sharing follows the density of what was sent.
// Names, defaults and rules are Deeplearning4j's.

#ifndef DL_LIBCORE_EXCHANGE_THRESHOLD_RULE_H_
#define DL_LIBCORE_EXCHANGE_THRESHOLD_RULE_H_

#include <cstdint>
#include <string_view>

#include "libcore/base/json.h"

namespace dl::exchange {

struct ThresholdRule {
  enum class Kind { kFixed, kAdaptive, kTarget };
  Kind kind = Kind::kAdaptive;
  double initial = 1e-3;
  double min_density = 1e-4;  // adaptive: below it the threshold falls,
  double max_density = 1e-2;  // above it it rises; target: both are the target
  double decay = 0.965936328924846;  // 0.5^(1/20): factor of one step

  // The threshold after one that gave `density` (quanta per element).
  double next(double threshold, double density) const;

  // "fixed:1e-3", "adaptive", "adaptive:1e-3", "target:1e-3".
  // Throws Error: kUsage.
  static ThresholdRule parse(std::string_view text);
  Json to_json() const;
  static ThresholdRule from_json(const JsonView& json);
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_THRESHOLD_RULE_H_
