#include "libcore/exchange/threshold_rule.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "libcore/base/error.h"

namespace dl::exchange {
namespace {

using Kind = ThresholdRule::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 3> kKinds = {
    {{"fixed", Kind::kFixed},
     {"adaptive", Kind::kAdaptive},
     {"target", Kind::kTarget}}};

std::string_view name_of(Kind kind) {
  return kKinds[static_cast<std::size_t>(kind)].first;
}

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
  auto bad = [&](const std::string& why) {
    return Error{Code::kUsage, "threshold '" + std::string(text) + "': " + why};
  };
  std::size_t colon = text.find(':');
  std::string_view word = text.substr(0, colon);
  const auto* found =
      std::find_if(kKinds.begin(), kKinds.end(),
                   [&](const auto& entry) { return entry.first == word; });
  if (found == kKinds.end())
    throw bad("want fixed:THRESHOLD, adaptive[:FIRST] or target[:DENSITY]");
  ThresholdRule rule;
  rule.kind = found->second;
  if (rule.kind == Kind::kTarget)
    rule.min_density = rule.max_density = kDefaultTarget;
  if (colon == std::string_view::npos) {
    if (rule.kind == Kind::kFixed) throw bad("fixed needs a threshold");
    return rule;
  }
  std::string_view digits = text.substr(colon + 1);
  double value = 0;
  auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size())
    throw bad("'" + std::string(digits) + "' is no number");
  if (rule.kind == Kind::kTarget) {
    if (!target_ok(value)) throw bad("want a density between 0 and 1/16");
    rule.min_density = rule.max_density = value;
  } else {
    if (!threshold_ok(value)) throw bad("want a threshold of 1e-12 to 1e12");
    rule.initial = value;
  }
  return rule;
}

Json ThresholdRule::to_json() const {
  Json json = {{"type", name_of(kind)}, {"initial", initial}};
  if (kind == Kind::kAdaptive) {
    json["min_density"] = min_density;
    json["max_density"] = max_density;
  }
  if (kind == Kind::kTarget) json["density"] = min_density;
  if (kind != Kind::kFixed) json["decay"] = decay;
  return json;
}

ThresholdRule ThresholdRule::from_json(const JsonView& json) {
  ThresholdRule rule;
  std::string type = json.at("type").string();
  const auto* found =
      std::find_if(kKinds.begin(), kKinds.end(),
                   [&](const auto& entry) { return entry.first == type; });
  if (found == kKinds.end()) json.at("type").fail("fixed, adaptive or target");
  rule.kind = found->second;
  auto number = [&](std::string_view key, const char* want, auto&& ok) {
    double value = json.at(key).number();
    if (!ok(value)) json.at(key).fail(want);
    return value;
  };
  rule.initial =
      number("initial", "a threshold of 1e-12 to 1e12", threshold_ok);
  if (rule.kind == Kind::kFixed) {
    json.only({"type", "initial"});
    return rule;
  }
  rule.decay = number("decay", "a factor in [0.5, 1)",
                      [](double d) { return d >= 0.5 && d < 1; });
  if (rule.kind == Kind::kTarget) {
    json.only({"type", "initial", "density", "decay"});
    rule.min_density = rule.max_density =
        number("density", "a density between 0 and 1/16", target_ok);
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
