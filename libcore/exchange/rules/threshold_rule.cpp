// Adaptation of a threshold to the density.

#include "libcore/exchange/rules/threshold_rule.h"

#include <algorithm>
#include <string>

#include "libcore/base/error.h"
#include "libcore/exchange/rules/rule_text.h"

namespace dl::exchange {
namespace {

constexpr double kDefaultTarget = 1e-3;
constexpr double kMaxTarget = 1.0 / 16;  // where Deeplearning4j turned dense

bool threshold_ok(double value) {
  return value >= kMinThreshold && value <= kMaxThreshold;
}

bool target_ok(double value) { return value > 0 && value < kMaxTarget; }

}  // namespace

double ThresholdRule::next(double threshold, double density) const {
  if (kind == Kind::kFixed) return threshold;
  if (density < min_density) threshold *= decay;
  if (density > max_density) threshold /= decay;
  return std::clamp(threshold, kMinThreshold, kMaxThreshold);
}

ThresholdRule ThresholdRule::parse(std::string_view text) {
  const RuleText words = RuleText::parse(text);
  const auto kind = kThresholdNames.find(words.word);
  if (!kind || words.numbers.size() > 1)
    words.fail(
        "fixed:THRESHOLD, adaptive[:FIRST], target[:DENSITY] or "
        "quantile[:DENSITY]");
  ThresholdRule rule;
  rule.kind = *kind;
  if (rule.has_target()) rule.min_density = rule.max_density = kDefaultTarget;
  if (words.numbers.empty()) {
    if (rule.kind == Kind::kFixed) words.fail("fixed:THRESHOLD");
    if (rule.kind != Kind::kAdaptive) return rule;
    rule.initial = 0;
    rule.min_density = rule.max_density / 2;
    return rule;
  }
  const double value = words.numbers.front();
  if (rule.has_target()) {
    if (!target_ok(value)) words.fail("a density between 0 and 1/16");
    rule.min_density = rule.max_density = value;
  } else {
    if (!threshold_ok(value)) words.fail("a threshold of 1e-12 to 1e12");
    rule.initial = value;
  }
  return rule;
}

Json ThresholdRule::to_json() const {
  Json json = {{"type", kThresholdNames.of(kind)}};
  if (kind != Kind::kQuantile) json["initial"] = initial;
  if (kind == Kind::kAdaptive) {
    json["min_density"] = min_density;
    json["max_density"] = max_density;
  }
  if (has_target()) json["density"] = min_density;
  if (kind == Kind::kAdaptive || kind == Kind::kTarget) json["decay"] = decay;
  return json;
}

ThresholdRule ThresholdRule::from_json(const JsonView& json) {
  ThresholdRule rule;
  const auto kind = kThresholdNames.find(json.at("type").string());
  if (!kind) json.at("type").fail(kThresholdNames.list());
  rule.kind = *kind;
  const auto number = [&](std::string_view key, const char* want, auto&& ok) {
    const double value = json.at(key).number();
    if (!ok(value)) json.at(key).fail(want);
    return value;
  };
  if (rule.has_target())
    rule.min_density = rule.max_density =
        number("density", "a density between 0 and 1/16", target_ok);
  if (rule.kind == Kind::kQuantile) {
    json.only({"type", "density"});
    return rule;
  }
  const bool may_find = rule.kind == Kind::kAdaptive;
  rule.initial =
      number("initial", "a threshold of 1e-12 to 1e12", [&](double value) {
        return threshold_ok(value) || (may_find && value == 0);
      });
  if (rule.kind == Kind::kFixed) {
    json.only({"type", "initial"});
    return rule;
  }
  rule.decay = number("decay", "a factor in [0.5, 1)",
                      [](double d) { return d >= 0.5 && d < 1; });
  if (rule.kind == Kind::kTarget) {
    json.only({"type", "initial", "density", "decay"});
    return rule;
  }
  json.only({"type", "initial", "min_density", "max_density", "decay"});
  rule.max_density = number("max_density", "a density in (0, 1]",
                            [](double d) { return d > 0 && d <= 1; });
  rule.min_density =
      number("min_density", "a density of 0 to max_density",
             [&](double d) { return d >= 0 && d <= rule.max_density; });
  return rule;
}

}  // namespace dl::exchange
