// Thresholds that follow their rules, in parts of every size.

#include "libcore/exchange/rules/threshold_control.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/base/philox.h"
#include "libcore/exchange/codec/threshold.h"

namespace dl::exchange::threshold_control_test {

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
  const std::vector<std::size_t> parts = {1000, 2000};
  ThresholdControl control(ThresholdRule::parse("adaptive"), parts, 0);
  control.start_from(0.5);
  CHECK(control.mean() == 0.5);
  CHECK(control.next(std::vector<float>(3000), {})[1] == 0.5F);
  control.start_from(1e30);
  CHECK(control.mean() == kMaxThreshold);
}

namespace {

enum class Updates { kNormal, kDrift, kHeavy, kRare };

// Elements that a part of n sends under a rule, as a multiple of its target:
// real residuals, updates of a kind.
class Run {
 public:
  Run(const ThresholdRule& rule, std::vector<std::size_t> parts, Updates kind,
      std::int64_t warmup = 0)
      : control(rule, parts, warmup), encoder(parts), kind_(kind) {
    update_.resize(encoder.residual().size());
    drift_.resize(update_.size());
    for (float& v : drift_) v = static_cast<float>(random_.normal());
  }
  // Quanta of each part in `steps` messages.
  std::vector<double> steps(int steps) {
    std::vector<double> sum(encoder.parts().size());
    for (int s = 0; s < steps; ++s) {
      for (std::size_t i = 0; i < update_.size(); ++i) update_[i] = draw(i);
      message_.clear();
      encoder.encode(update_, control.next(encoder.residual(), update_),
                     message_);
      control.sent(encoder.quanta());
      for (std::size_t p = 0; p < sum.size(); ++p)
        sum[p] += static_cast<double>(encoder.quanta()[p]);
    }
    return sum;
  }

  ThresholdControl control;
  ThresholdEncoder encoder;

 private:
  float draw(std::size_t i) {
    // The sum of four is normal enough here, and quicker.
    const double x = random_.uniform() + random_.uniform() + random_.uniform() +
                     random_.uniform() - 2;
    const double scale = i < 1000 ? 1e-2 : 1e-5;  // of two layers
    switch (kind_) {
      case Updates::kNormal:
        return static_cast<float>(scale * x);
      case Updates::kDrift:
        return static_cast<float>(scale * (x + drift_[i]));
      case Updates::kHeavy:
        return static_cast<float>(scale * x * x * x * x * x);
      case Updates::kRare:
        return static_cast<float>(random_.below(50) == 0 ? scale * x : 0);
    }
    return 0;
  }

  Updates kind_;
  Philox random_{31, 1};
  std::vector<float> update_, drift_;
  std::vector<std::byte> message_;
};

}  // namespace

TEST_CASE(
    "quantile is at its density within 20 messages, in parts of any size") {
  const std::vector<std::size_t> parts = {300, 700, 5000, 30'000};
  for (const Updates kind :
       {Updates::kNormal, Updates::kDrift, Updates::kHeavy, Updates::kRare})
    for (const double density : {1e-3, 1e-2}) {
      auto rule = ThresholdRule::parse("quantile");
      rule.min_density = rule.max_density = density;
      Run run(rule, parts, kind);
      run.steps(15);
      // So few that a small part is due a few times.
      const int steps = density < 5e-3 ? 20 : 5;
      const std::vector<double> sent = run.steps(steps);
      for (std::size_t p = 0; p < parts.size(); ++p) {
        const double want = density * steps * static_cast<double>(parts[p]);
        INFO("updates " << static_cast<int>(kind) << ", " << parts[p]
                        << " elements: " << sent[p] << " quanta of " << want);
        CHECK(std::fabs(sent[p] - want) <= std::max(0.2 * want, 1.5));
      }
    }
}

TEST_CASE("quantile comes back when updates are suddenly equal, or none") {
  auto rule = ThresholdRule::parse("quantile:0.01");
  const std::vector<std::size_t> parts = {2000};
  ThresholdControl control(rule, parts, 0);
  ThresholdEncoder encoder({2000});
  std::int64_t sent = 0;
  std::vector<std::byte> message;
  for (int step = 0; step < 100; ++step) {
    // All of the same size, as after the first step of Adam; then some zero.
    std::vector<float> update(2000, step < 50 ? 1e-3F : 0);
    for (std::size_t i = 0; i < 2000; i += 2) update[i] *= -1;
    sent += encoder.encode(update, control.next(encoder.residual(), update),
                           message);
    control.sent(encoder.quanta());
    REQUIRE(control.mean() > 0);
  }
  CHECK(sent > 0);
  CHECK(sent < 50 * 2000 / 4);
}

TEST_CASE("warm-up: the density falls geometrically from a fourth") {
  for (const char* text : {"target:1e-3", "quantile:1e-3"}) {
    Run run(ThresholdRule::parse(text), {4'000}, Updates::kNormal, 10);
    for (int step = 0; step < 10; ++step) {
      const double want = 0.25 * std::pow(4e-3, step / 10.0);
      INFO(text << ", message " << step);
      CHECK(run.steps(1)[0] == Approx(4000 * want).margin(1.5));
    }
  }
}

TEST_CASE(
    "small parts do not swing: target and adaptive keep to their densities") {
  // 0.3 and 1 expected quanta: DL4J's rule, by one message, would go to ln 2.
  Run target(ThresholdRule::parse("target:1e-3"), {300, 1000},
             Updates::kNormal);
  target.control.start_from(0.1);
  target.steps(600);
  const std::vector<double> sent = target.steps(1000);
  CHECK(sent[0] == Approx(300).epsilon(0.25));
  CHECK(sent[1] == Approx(1000).epsilon(0.25));

  Run adaptive(ThresholdRule::parse("adaptive:0.1"), {300}, Updates::kNormal);
  adaptive.steps(300);
  const double density = adaptive.steps(500)[0] / 500 / 300;
  CHECK(density >= 1e-4);
  CHECK(density <= 1e-2);
}

TEST_CASE("adaptive: a small part sends all that it owes, without end") {
  // A bias of two elements that has far to go, and then is there.
  const std::vector<std::size_t> parts = {2};
  ThresholdControl control(ThresholdRule::parse("adaptive:1e-3"), parts, 0);
  ThresholdEncoder encoder(parts);
  std::vector<std::byte> message;
  const auto steps = [&](int count, float size) {
    const std::vector<float> update = {size, -size / 3};
    for (int i = 0; i < count; ++i) {
      message.clear();
      encoder.encode(update, control.next(encoder.residual(), update), message);
      control.sent(encoder.quanta());
    }
  };
  steps(300, 0.05F);
  CHECK(std::abs(encoder.residual()[0]) < 0.2F);
  const double before = control.mean();
  steps(20, 0);
  CHECK(control.mean() < before);
  steps(400, 0);
  CHECK(std::abs(encoder.residual()[0]) < 1e-6F);
  CHECK(std::abs(encoder.residual()[1]) < 1e-6F);
}

TEST_CASE("the same messages give the same thresholds") {
  const auto rule = ThresholdRule::parse("quantile:1e-3");
  Run a(rule, {1000, 40'000}, Updates::kDrift);
  Run b(rule, {1000, 40'000}, Updates::kDrift);
  CHECK(a.steps(5) == b.steps(5));
  CHECK(a.control.mean() == b.control.mean());
}

}  // namespace dl::exchange::threshold_control_test
