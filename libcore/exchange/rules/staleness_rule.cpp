// Factors of stale updates.

#include "libcore/exchange/rules/staleness_rule.h"

#include <algorithm>
#include <cmath>

#include "libcore/exchange/rules/rule_text.h"

namespace dl::exchange {

double StalenessRule::factor(std::uint64_t staleness) const {
  const auto age = static_cast<double>(staleness);
  switch (kind) {
    case Kind::kInverse:
      return 1 / std::max(age, 1.0);
    case Kind::kExponential:
      return std::exp(-rate * age);
    case Kind::kFasgd:
      return 1 / (age + 1);
    case Kind::kNone:
      return 1;
  }
  return 1;
}

StalenessRule StalenessRule::parse(std::string_view text) {
  constexpr const char* kWant = "none, inverse, exponential[:RATE] or fasgd";
  const RuleText words = RuleText::parse(text);
  StalenessRule rule;
  if (words.word == "exponential" && words.numbers.size() <= 1) {
    rule.kind = Kind::kExponential;
    if (!words.numbers.empty()) rule.rate = words.numbers[0];
    if (!(rule.rate > 0)) words.fail("a positive rate");
    return rule;
  }
  if (!words.numbers.empty()) words.fail(kWant);
  if (words.word == "none") return rule;
  if (words.word == "inverse")
    rule.kind = Kind::kInverse;
  else if (words.word == "fasgd")
    rule.kind = Kind::kFasgd;
  else
    words.fail(kWant);
  return rule;
}

std::string StalenessRule::to_text() const {
  switch (kind) {
    case Kind::kNone:
      return "none";
    case Kind::kInverse:
      return "inverse";
    case Kind::kExponential:
      return "exponential:" + number_text(rate);
    case Kind::kFasgd:
      return "fasgd";
  }
  return "none";
}

}  // namespace dl::exchange
