// Thresholds that follow their rules, in parts of every size.

#include "libcore/exchange/threshold_control.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/base/philox.h"
#include "libcore/exchange/threshold.h"

using namespace dl;
using namespace dl::exchange;

TEST_CASE("fixed, adaptive and target follow Deeplearning4j's rules") {
  const std::vector<std::size_t> parts = {100'000, 200'000};
  const std::vector<float> residual(300'000);
  for (const char* text : {"fixed:1e-2", "adaptive:1e-2", "target:1e-3"}) {
    const auto rule = ThresholdRule::parse(text);
    ThresholdControl control(rule, parts, 0);
    double first = rule.initial, second = rule.initial;
    for (int i = 0; i < 30; ++i) {
      const auto thresholds = control.next(residual, {});
      REQUIRE(thresholds[0] == static_cast<float>(first));
      REQUIRE(thresholds[1] == static_cast<float>(second));
      control.sent(std::vector<std::int64_t>{5, 4000});
      first = rule.next(first, 5 / 1e5);
      second = rule.next(second, 4000 / 2e5);
    }
    CHECK(control.mean() == Approx((first + 2 * second) / 3));
  }
}

TEST_CASE("a joiner starts from what others have come to") {
  ThresholdControl control(ThresholdRule::parse("adaptive"), {1000, 2000}, 0);
  control.start_from(0.5);
  CHECK(control.mean() == 0.5);
  CHECK(control.next(std::vector<float>(3000), {})[1] == 0.5F);
  control.start_from(1e30);
  CHECK(control.mean() == kMaxThreshold);
}
