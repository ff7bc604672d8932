// Deeplearning4j's rules of the threshold, and how they are written.

#include "libcore/exchange/rules/threshold_rule.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace dl::exchange::threshold_rule_test {

TEST_CASE("fixed stays, whatever was sent") {
  auto rule = ThresholdRule::parse("fixed:2.5e-3");
  CHECK(rule.initial == 2.5e-3);
  for (double density : {0.0, 1e-3, 1.0})
    CHECK(rule.next(rule.initial, density) == 2.5e-3);
}

TEST_CASE("adaptive halves in 20 steps below its range, doubles above it") {
  auto rule = ThresholdRule::parse("adaptive");
  CHECK(rule.finds_first());
  CHECK(rule.next(1, 4e-3) == rule.decay);
  CHECK(rule.next(1, 6e-3) == 1);
  rule = ThresholdRule::parse("adaptive:1e-3");
  CHECK_FALSE(rule.finds_first());
  CHECK(rule.initial == 1e-3);
  double low = 1, high = 1;
  for (int i = 0; i < 20; ++i) {
    low = rule.next(low, 0.5e-4);
    high = rule.next(high, 2e-2);
  }
  CHECK(low == Approx(0.5).epsilon(1e-12));
  CHECK(high == Approx(2.0).epsilon(1e-12));
  for (double inside : {1e-4, 1e-3, 1e-2}) CHECK(rule.next(1, inside) == 1);
}

TEST_CASE("target moves unless the density is met exactly") {
  auto rule = ThresholdRule::parse("target:2e-3");
  CHECK(rule.next(1, 1.9e-3) == rule.decay);
  CHECK(rule.next(1, 2.1e-3) == 1 / rule.decay);
  CHECK(rule.next(1, 2e-3) == 1);
  CHECK(ThresholdRule::parse("target").min_density == 1e-3);
}

TEST_CASE("a threshold never leaves the range that can be encoded") {
  ThresholdRule rule;
  double low = 1e-3, high = 1e-3;
  for (int i = 0; i < 5000; ++i) {
    low = rule.next(low, 0);
    high = rule.next(high, 1);
  }
  CHECK(static_cast<float>(low) > 0);
  CHECK(std::isfinite(static_cast<float>(high)));
}

TEST_CASE("what parse() refuses") {
  for (const char* text :
       {"", "fixed", "fixed:", "fixed:0", "fixed:-1", "fixed:nan", "fixed:inf",
        "fixed:1e-3x", "adaptive:", "target:0", "target:0.0625", "targets",
        "adaptive:1e-3:2", "quantile:0", "quantile:1e-3:2", "quantile:"}) {
    INFO(text);
    try {
      ThresholdRule::parse(text);
      FAIL("was accepted");
    } catch (const Error& error) {
      CHECK(error.code() == Code::kUsage);
    }
  }
}

TEST_CASE("JSON carries every rule, and refuses what does not fit") {
  for (const char* text : {"fixed:2e-3", "adaptive", "adaptive:1e-4",
                           "target:5e-3", "quantile:2e-3"}) {
    auto rule = ThresholdRule::parse(text);
    Json json = rule.to_json();
    auto copy = ThresholdRule::from_json(JsonView(json, Code::kConfig));
    if (rule.kind == ThresholdRule::Kind::kFixed)
      CHECK(copy.initial == rule.initial);
    else
      CHECK(copy == rule);
    CHECK(copy.to_json() == json);
  }
  auto refuses = [](const char* text, const char* key, Json bad) {
    Json json = ThresholdRule::parse(text).to_json();
    json[key] = std::move(bad);
    INFO(json.dump());
    CHECK_THROWS_AS(ThresholdRule::from_json(JsonView(json, Code::kConfig)),
                    Error);
  };
  refuses("adaptive", "type", "adoptive");
  refuses("adaptive", "initial", -1);
  refuses("target", "initial", 0);
  refuses("adaptive", "decay", 1);
  refuses("adaptive", "min_density", 0.5);
  refuses("adaptive", "max_density", 2);
  refuses("adaptive", "density", 0.5);
  refuses("target", "density", 0.5);
  refuses("target", "min_density", 1e-3);
  refuses("fixed:1e-3", "decay", 0.9);
  refuses("quantile", "initial", 1e-3);
  refuses("quantile", "density", 0.07);
}

}  // namespace dl::exchange::threshold_rule_test
