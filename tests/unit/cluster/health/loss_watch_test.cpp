// Tests of libcore/cluster/health/loss_watch.h.

#include "libcore/cluster/health/loss_watch.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "libcore/base/error.h"

namespace dl::cluster::loss_watch_test {

namespace {

constexpr double kTenClasses = 2.302585;

// Feeds losses of mini-batches, with the noise that they have.
struct Curve {
  LossWatch watch;
  std::mt19937 random{7};
  std::uint64_t version = 0;
  std::vector<std::uint64_t> alarms;  // versions at which it became wrong
  std::int64_t examples = 32;
  double applied = 0;

  void add(double loss, double noise = 0) {
    const bool before = watch.wrong();
    std::normal_distribution<double> normal(0, 1);
    const double value = loss + noise * normal(random);
    ++version;
    watch.add(version, 1, examples, value * static_cast<double>(examples),
              applied, {});
    if (watch.wrong() && !before) alarms.push_back(version);
  }
  void add(int batches, const std::function<double(double)>& loss,
           double noise) {
    for (int i = 0; i < batches; ++i)
      add(loss(static_cast<double>(i) / batches), noise);
  }
  // Means over 16 mini-batches each.
  void add_means(const std::vector<double>& means, double noise) {
    for (const double mean : means)
      for (int i = 0; i < 16; ++i) add(mean, noise);
  }
  void fall(int batches, double from, double to, double noise) {
    add(
        batches, [&](double t) { return to + (from - to) * std::exp(-6 * t); },
        noise);
  }
};

// Recorded: LeNet on MNIST, 16 workers, --combine sum, learning rate 0.02.
const std::vector<double> kCollapse = {
    2.3,  2.28, 2.23, 1.82, 1.43, 1.13, 1.02, 0.851, 0.708, 0.685, 0.777, 1.18,
    .714, 1.11, 1.21, 1.79, 2.4,  2.12, 1.72, 1.57,  1.52,  1.58,  1.99,  3.1,
    3.18, 3.2,  5.25, 3.72, 3.67, 5.59, 4.35, 2.83,  2.24,  2.1,   2.18,  2.22,
    2.14, 2.06, 2.02, 1.78, 1.75, 1.98, 2.38, 1.84,  1.89,  1.78,  1.99,  2.1};
// Likewise digits, 16 workers, which end at 7.4 %.
const std::vector<double> kDigits = {
    2.63, 2.51, 2.46, 2.71, 2.22, 2.14, 2.07, 2.06, 1.97, 1.76, 2.03, 1.9,
    1.88, 1.54, 3.06, 2.27, 1.09, 1.39, 1.37, 1.39, 1.18, 1.2,  1,    0.623,
    .959, 2.67, 2.38, 1.93, 1.63, 1.32, 1.33, 1.6,  1.77, 1.83, 2.14, 1.56,
    1.34, 2.39, 3.96, 3.15, 2.65, 2.95, 5.42, 4.42, 2.32, 2.63, 2.38, 2.19,
    2.29, 2.4,  2.31, 2.32, 2.31, 2.32, 2.33, 2.31};

}  // namespace

TEST_CASE("a network that one step has killed is noticed, however early") {
  Curve curve;
  curve.watch.expect(kTenClasses);
  curve.add(2.31);
  curve.add(2.33);
  CHECK_FALSE(curve.watch.has_jumped());
  curve.add(30);
  CHECK(curve.watch.has_jumped());
  for (int i = 0; i < 200 && curve.alarms.empty(); ++i) curve.add(2.302, 0.01);
  REQUIRE(curve.alarms.size() == 1);
  CHECK(curve.alarms[0] == 5 * 16);  // the jump's block, and four behind it
  CHECK(curve.watch.sound_version() == 0);
  CHECK(curve.watch.since() == 0);
  CHECK_FALSE(curve.watch.sound());
  CHECK(curve.watch.ends_badly());
  CHECK(curve.watch.describe() ==
        "the loss jumped to 30 after update 0 and has been no better since "
        "than the 2.3 of a constant prediction: units have died");

  // It is kept.
  const Json json = curve.watch.to_json();
  LossWatch other;
  other.restore(JsonView(json, Code::kData));
  CHECK(other.wrong());
  CHECK(other.to_json() == json);
  other.start_again(300, other);
  CHECK_FALSE(other.wrong());
}

TEST_CASE("a network that may have died is told of once") {
  Curve curve;
  curve.watch.expect(kTenClasses);
  std::string what;
  for (int i = 0; i < 20; ++i) curve.add(2.31, 0.02);
  SECTION("behind a small jump") {
    curve.add(6.7);
    what = "the loss jumped to 6.7 after update 16";
  }
  SECTION("though its loss had begun to fall") {
    for (int i = 0; i < 6; ++i) curve.add(1.7);
    for (int i = 0; i < 6; ++i) curve.add(2.9);
    what = "the loss had begun to fall after update 16";
  }
  const auto died = [&] { return curve.watch.may_have_died(); };
  int blocks = 0;
  for (; blocks < 20 && !died(); ++blocks) curve.add_means({2.302}, 0.01);
  CHECK((blocks >= 7 && blocks <= 9));
  CHECK(curve.alarms.empty());
  CHECK_FALSE(curve.watch.has_jumped());
  CHECK(curve.watch.since() == 16);
  CHECK(curve.watch.sound_version() <= 16);
  CHECK(curve.watch.describe() ==
        what +
            " and has been no better since than the 2.3 of a constant "
            "prediction: units may have died");

  // It is kept.
  const Json json = curve.watch.to_json();
  LossWatch other;
  other.restore(JsonView(json, Code::kData));
  CHECK(other.may_have_died());
  CHECK(other.to_json() == json);

  // With data that cannot be learnt it will be so again.
  LossWatch back;
  back.expect(kTenClasses);
  back.start_again(300, other);
  curve.watch = back;
  curve.add(6.7);
  curve.add_means(std::vector<double>(20, 2.302), 0.01);
  CHECK_FALSE(died());
  CHECK(curve.alarms.empty());
}

TEST_CASE("labels that say nothing kill no network") {
  Curve curve;
  curve.watch.expect(kTenClasses);
  curve.add(
      2000, [](double) { return 2.31; }, 0.1);
  CHECK_FALSE(curve.watch.may_have_died());
  CHECK(curve.alarms.empty());
}

TEST_CASE("a jump that a network recovers from is none") {
  Curve curve;
  curve.watch.expect(kTenClasses);
  curve.add(2.31);
  curve.add(30);
  for (int i = 0; i < 48; ++i) curve.add(2.31, 0.02);
  curve.fall(400, 2.2, 0.3, 0.05);
  CHECK(curve.alarms.empty());
  CHECK_FALSE(curve.watch.has_jumped());
}

// Recorded: LeNet, 8 workers, mini-batches of 8, whose blocks are long, while
// the learning rate rises.
TEST_CASE("a block that is better than before is no alarm") {
  Curve curve;
  curve.examples = 8;
  curve.watch.expect(kTenClasses);
  curve.applied = 1;
  curve.add(
      64, [](double) { return 2.28; }, 0.1);
  curve.applied = 20;
  curve.add(
      64, [](double t) { return t > 0.7 && t < 0.9 ? 4.5 : 2.2; }, 0.3);
  curve.add(
      64, [](double) { return 1.75; }, 0.3);
  CHECK(curve.watch.blocks() == 3);
  CHECK(curve.alarms.empty());
  curve.fall(320, 1.6, 0.3, 0.3);
  CHECK(curve.alarms.empty());
  CHECK(curve.watch.sound());
}

TEST_CASE("a network that starts high and stays on a plateau has not jumped") {
  Curve curve;
  curve.watch.expect(kTenClasses);
  for (int i = 0; i < 16; ++i) curve.add(30 - i, 0.1);
  for (int i = 0; i < 400; ++i) curve.add(2.302, 0.01);
  CHECK_FALSE(curve.watch.has_jumped());
  CHECK(curve.alarms.empty());
}

TEST_CASE("rounds of a network that starts high are no jump either") {
  LossWatch watch;
  watch.expect(kTenClasses);
  std::uint64_t version = 0;
  const auto rounds = [&](int count, double loss, bool together) {
    for (int i = 0; i < count; ++i)
      watch.add(++version, 8, 256, 256 * loss, 0, {}, 0, together);
  };
  SECTION("of one step, whose first loss is that of the start") {
    rounds(1, 9, true);
    rounds(200, 2.302, true);
    CHECK_FALSE(watch.asks_for_start());
    CHECK_FALSE(watch.has_jumped());
    CHECK(watch.sound());
  }
  SECTION("of several, when they ask for it") {
    rounds(1, 9, false);
    CHECK_FALSE(watch.asks_for_start());  // nothing looks dead yet
    rounds(20, 2.302, false);
    REQUIRE(watch.wrong());
    REQUIRE(watch.asks_for_start());
    SECTION("as it began so") {
      watch.begun_with(11);
      CHECK(watch.sound());
      CHECK_FALSE(watch.may_have_died());
    }
    SECTION("though it did not") {
      watch.begun_with(2.4);
      CHECK(watch.wrong());
    }
    CHECK_FALSE(watch.asks_for_start());
  }
}

TEST_CASE("the loss that a run has come to has an error") {
  Curve curve;
  curve.watch.expect(kTenClasses);
  for (int i = 0; i < 15; ++i) curve.add(2.3, 0.02);
  CHECK_FALSE(curve.watch.recent());
  for (int i = 0; i < 100; ++i) curve.add(2.3, 0.02);
  REQUIRE(curve.watch.recent());
  CHECK(curve.watch.recent()->loss == Approx(2.3).margin(0.02));
  CHECK(curve.watch.recent()->error > 0.001);
  CHECK(curve.watch.recent()->error < 0.02);
  for (int i = 0; i < 12; ++i) curve.add(1.2, 0.02);
  CHECK(curve.watch.recent()->loss > 2);
  CHECK(curve.watch.recent()->last == Approx(1.2).margin(0.05));
}

TEST_CASE("recorded collapses are seen while they are under way") {
  Curve lenet;
  lenet.watch.expect(kTenClasses);
  lenet.add_means(kCollapse, 0.2);
  REQUIRE(lenet.alarms.size() == 1);
  CHECK(lenet.alarms[0] > 15 * 16);
  CHECK(lenet.alarms[0] < 30 * 16);
  // It went down, shook, and was lost in the 240th mini-batch or soon after.
  CHECK(lenet.watch.sound_version() >= 7 * 16);
  CHECK(lenet.watch.sound_version() < 15 * 16);
  CHECK(lenet.watch.ends_badly());
  CHECK_THAT(lenet.watch.describe(),
             Catch::Contains("over 480 mini-batches since update 240"));

  Curve digits;
  digits.watch.expect(kTenClasses);
  digits.examples = 16;
  digits.add_means(kDigits, 0.4);
  CHECK(digits.alarms.size() == 1);
  CHECK(digits.watch.ends_badly());
  CHECK_THAT(digits.watch.describe(),
             Catch::Contains("a constant prediction has 2.3"));
}

TEST_CASE("a collapse is seen without knowing what chance would give") {
  Curve curve;
  curve.add_means(kCollapse, 0.2);
  CHECK(curve.alarms.size() == 1);
  CHECK_THAT(curve.watch.describe(), !Catch::Contains("constant"));
}

TEST_CASE("a loss that falls is sound, however noisy") {
  for (const double noise : {0.01, 0.1, 0.5, 2.0}) {
    Curve curve;
    curve.watch.expect(kTenClasses);
    curve.fall(6000, 2.5, 0.05, noise);
    CHECK(curve.alarms.empty());
    CHECK_FALSE(curve.watch.ends_badly());
  }
}

TEST_CASE("a run that never left a constant prediction has learnt nothing") {
  for (const double noise : {0.0, 0.02, 0.3}) {
    Curve dead;
    dead.watch.expect(kTenClasses);
    dead.add(
        600, [](double) { return kTenClasses; }, noise);
    CHECK_FALSE(dead.watch.learnt_nothing());  // it is early
    dead.add(
        600, [](double) { return kTenClasses; }, noise);
    CHECK(dead.watch.learnt_nothing());
    dead.fall(2000, kTenClasses, 1, noise);
    CHECK_FALSE(dead.watch.learnt_nothing());
  }
  Curve unknown;
  unknown.add(
      5000, [](double) { return kTenClasses; }, 0.02);
  CHECK_FALSE(unknown.watch.learnt_nothing());
}

TEST_CASE("a loss that stays where it was is no divergence") {
  for (const double start : {2.35, 0.05, -3.0, 1e6})
    for (const double noise : {0.0, 0.02, 0.3}) {
      Curve curve;
      if (start > 2) curve.watch.expect(kTenClasses);
      curve.add(
          5000, [&](double) { return start; }, noise * std::fabs(start));
      CHECK(curve.alarms.empty());
      CHECK_FALSE(curve.watch.ends_badly());
    }
}

TEST_CASE("examples that stand out in each epoch are no divergence") {
  Curve curve;
  curve.watch.expect(1);
  curve.fall(560, 1, 0.02, 0.005);
  for (int epoch = 0; epoch < 11; ++epoch)
    for (int i = 0; i < 140; ++i) {
      curve.add(i == 130 ? 140 : 0.02, 0.005);
      CHECK_FALSE(curve.watch.ends_badly());
    }
  CHECK(curve.alarms.empty());
}

TEST_CASE("spikes, warm-up and restarts of the learning rate are sound") {
  Curve spikes;
  spikes.watch.expect(kTenClasses);
  spikes.fall(2000, 2.4, 0.1, 0.05);
  for (int i = 0; i < 5; ++i) {
    spikes.add(
        60, [](double t) { return 8 * (1 - t) + 0.1; }, 0.3);
    spikes.add(
        300, [](double) { return 0.1; }, 0.05);
  }
  CHECK(spikes.alarms.empty());

  Curve warm_up;
  warm_up.watch.expect(kTenClasses);
  warm_up.add(
      20, [](double) { return 2.4; }, 0.1);
  warm_up.add(
      90, [](double t) { return 9 - 6 * t; }, 0.5);
  warm_up.fall(2000, 2.4, 0.2, 0.1);
  CHECK(warm_up.alarms.empty());

  Curve restarts;
  restarts.watch.expect(kTenClasses);
  for (int i = 0; i < 6; ++i)
    restarts.fall(1500, i == 0 ? 2.4 : 0.7, 0.05, 0.1);
  CHECK(restarts.alarms.empty());
  CHECK_FALSE(restarts.watch.ends_badly());
}

TEST_CASE("a run that starts from a good model may lose a little of it") {
  Curve tuned;
  tuned.watch.expect(kTenClasses);
  tuned.add(
      100, [](double) { return 0.03; }, 0.02);
  tuned.add(
      3000, [](double t) { return 0.2 * std::exp(-t) + 0.03; }, 0.05);
  CHECK(tuned.alarms.empty());
  CHECK_FALSE(tuned.watch.ends_badly());
  tuned.add(
      400, [](double) { return 2.3; }, 0.05);
  CHECK(tuned.alarms.size() == 1);
}

TEST_CASE("a loss above that of the first mini-batches does not pass") {
  Curve curve;  // of a regression
  curve.add(
      64, [](double) { return 1.0; }, 0.2);
  curve.add(
      1000, [](double t) { return 3 + 50 * t; }, 0.5);
  REQUIRE(curve.alarms.size() == 1);
  CHECK(curve.alarms[0] < 64 + 300);
  CHECK(curve.watch.sound_version() <= 64);
  CHECK_THAT(curve.watch.describe(), Catch::Contains("in the beginning"));
}

TEST_CASE("what little was learnt and lost again is told at the end") {
  Curve curve;
  curve.watch.expect(kTenClasses);
  curve.fall(1500, 2.6, 2.0, 0.6);
  CHECK_FALSE(curve.watch.ends_badly());
  curve.add(
      150, [](double) { return 2.45; }, 0.6);
  CHECK(curve.alarms.empty());
  CHECK(curve.watch.ends_badly());
}

TEST_CASE("an alarm ends when the loss comes down again") {
  Curve curve;
  curve.watch.expect(kTenClasses);
  curve.fall(1000, 2.4, 0.3, 0.1);
  curve.add(
      300, [](double) { return 2.3; }, 0.1);
  CHECK(curve.watch.wrong());
  curve.fall(1000, 2.3, 0.3, 0.1);
  CHECK_FALSE(curve.watch.wrong());
  CHECK_FALSE(curve.watch.ends_badly());
  CHECK(curve.alarms.size() == 1);
}

TEST_CASE("one long round of averaging is not enough, two are") {
  LossWatch watch;
  watch.expect(kTenClasses);
  std::uint64_t version = 0;
  const auto round = [&](double loss) {
    watch.add(++version, 2000, 64000, loss * 64000, 0, {});
  };
  for (const double loss : {2.0, 1.0, 0.6, 0.5, 0.4, 0.35}) round(loss);
  CHECK(watch.sound_version() == 5);
  round(2.4);
  CHECK_FALSE(watch.wrong());
  round(2.4);
  CHECK(watch.wrong());
  CHECK(watch.since() == 6);
}

TEST_CASE("parameters that grow beyond all measure shorten the wait") {
  const auto batches_until_alarm = [](float size) {
    Curve curve;
    curve.watch.expect(kTenClasses);
    curve.fall(1000, 2.4, 0.3, 0.05);
    std::vector<float> usual(10, 1), grown(10, size);
    for (int i = 0; i < 16 * 8; ++i)
      curve.watch.add(++curve.version, 1, 32, 32 * 0.3, 0, usual);
    int batches = 0;
    for (; !curve.watch.wrong(); ++batches)
      curve.watch.add(++curve.version, 1, 32, 32 * 2.3, 0, grown);
    if (size > 1)
      CHECK_THAT(curve.watch.describe(),
                 Catch::Contains("grew from norm 3.16 to 63.2"));
    return batches;
  };
  CHECK(batches_until_alarm(20) < batches_until_alarm(1));
}

TEST_CASE("what was watched goes on from what was saved") {
  Curve whole;
  whole.watch.expect(kTenClasses);
  whole.fall(700, 2.4, 0.3, 0.1);
  Curve later = whole;
  const Json saved = Json::parse(later.watch.to_json().dump());
  later.watch = LossWatch();
  later.watch.restore(dl::JsonView(saved, dl::Code::kData));
  for (Curve* curve : {&whole, &later})
    curve->add(
        300, [](double) { return 2.3; }, 0.1);
  CHECK(whole.watch.to_json() == later.watch.to_json());
  CHECK(later.alarms == whole.alarms);
  CHECK(later.alarms.size() == 1);
}

TEST_CASE("after going back what is reached again counts as good") {
  Curve curve;
  curve.watch.expect(kTenClasses);
  curve.fall(1000, 2.4, 0.3, 0.05);
  LossWatch before = curve.watch;
  curve.add(
      300, [](double) { return 2.3; }, 0.05);
  CHECK(curve.watch.wrong());
  curve.watch = before;
  curve.watch.start_again(curve.version + 1, curve.watch);
  CHECK_FALSE(curve.watch.wrong());
  CHECK(curve.watch.sound_version() == curve.version + 1);
  curve.alarms.clear();
  curve.add(
      2000, [](double) { return 0.3; }, 0.05);
  CHECK(curve.alarms.empty());
}

TEST_CASE("a run that begins far above chance has to come down") {
  Curve falls, stays, wanders;
  for (Curve* curve : {&falls, &stays, &wanders})
    curve->watch.expect(kTenClasses);
  falls.fall(3000, 1e6, 0.5, 0.1);
  CHECK(falls.alarms.empty());
  stays.add(
      3000, [](double) { return 1e5; }, 1e3);
  CHECK(stays.alarms.empty());
  CHECK(stays.watch.learnt_nothing());
  std::vector<double> means;
  for (int i = 0; i < 60; ++i) means.push_back(i % 3 == 1 ? 1e14 : 1e18);
  means[0] = 1e30;
  wanders.add_means(means, 0);
  CHECK_FALSE(wanders.alarms.empty());
}

}  // namespace dl::cluster::loss_watch_test
