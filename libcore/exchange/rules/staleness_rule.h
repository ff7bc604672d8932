// The weight of an update that was computed from parameters of some time ago.
//
// The staleness of an update is the number of updates that the parameters had
// seen when it was applied and had not when it was computed.

#ifndef DL_LIBCORE_EXCHANGE_RULES_STALENESS_RULE_H_
#define DL_LIBCORE_EXCHANGE_RULES_STALENESS_RULE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace dl::exchange {

struct StalenessRule {
  enum class Kind {
    kNone,         // factor 1
    kInverse,      // 1 / staleness (Zhang et al. 2015)
    kExponential,  // exp(-rate * staleness)
    // Each element by staleness and moving size (Odena 2016), fasgd.h.
    kFasgd
  };
  Kind kind = Kind::kNone;
  double rate = 0.1;  // rate of kExponential, > 0

  // The factor of a whole update; for kFasgd 1 / (staleness + 1).
  double factor(std::uint64_t staleness) const;

  // "none", "inverse", "exponential", "exponential:0.1", "fasgd".
  // Throws Error: kUsage.
  static StalenessRule parse(std::string_view text);
  std::string to_text() const;  // text that parse() reads as this rule
  bool operator==(const StalenessRule&) const = default;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RULES_STALENESS_RULE_H_
