// Schedules against their formulas in dl-network(5).

#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/nn/config/config.h"

namespace dl::nn::schedule_test {

TEST_CASE("a fixed schedule stays") {
  const Schedule s{.initial = 0.25};
  CHECK(s.at(0, 0) == 0.25);
  CHECK(s.at(1000000, 99) == 0.25);
}

TEST_CASE("a step schedule falls every so many iterations") {
  const Schedule s{
      .kind = Schedule::Kind::kStep, .initial = 0.8, .decay = 0.5, .every = 10};
  CHECK(s.at(0, 5) == 0.8);
  CHECK(s.at(9, 5) == 0.8);
  CHECK(s.at(10, 5) == 0.4);
  CHECK(s.at(29, 5) == 0.2);
  CHECK(s.at(30, 5) == 0.1);
}

TEST_CASE("a schedule by epoch looks at epochs alone") {
  const Schedule s{.kind = Schedule::Kind::kExponential,
                   .by_epoch = true,
                   .initial = 1,
                   .decay = 0.9};
  CHECK(s.at(12345, 0) == 1);
  CHECK(s.at(0, 2) == Approx(0.81).epsilon(1e-14));
}

TEST_CASE("a polynomial schedule comes down to 0 at its limit, and stays") {
  const Schedule s{.kind = Schedule::Kind::kPolynomial,
                   .initial = 2,
                   .power = 2,
                   .limit = 10};
  CHECK(s.at(0, 0) == 2);
  CHECK(s.at(5, 0) == 0.5);
  CHECK(s.at(9, 0) == Approx(0.02).epsilon(1e-12));
  CHECK(s.at(10, 0) == 0);
  CHECK(s.at(11, 0) == 0);
}

TEST_CASE("a polynomial schedule may end elsewhere") {
  const Schedule s{.kind = Schedule::Kind::kPolynomial,
                   .initial = 2,
                   .power = 2,
                   .limit = 10,
                   .last = 1};
  CHECK(s.at(0, 0) == 2);
  CHECK(s.at(5, 0) == 1.25);
  CHECK(s.at(10, 0) == 1);
  CHECK(s.at(11, 0) == 1);
  CHECK(s.largest() == 2);
}

TEST_CASE("an updater's step carries its rate of the moment") {
  dl::nn::UpdaterConfig updater;
  updater.kind = dl::device::Updater::kAdam;
  updater.learning_rate = {
      .kind = Schedule::Kind::kExponential, .initial = 1, .decay = 0.5};
  updater.beta1 = 0.7;
  const auto step = updater.step(3, 1);
  CHECK(step.kind == dl::device::Updater::kAdam);
  CHECK(step.learning_rate == 0.125);
  CHECK(step.beta1 == 0.7);
  CHECK(step.momentum == 0.9);
  CHECK(step.step == 4);  // 1 at the first step
}

TEST_CASE("workers side by side share what momentum there is") {
  dl::nn::UpdaterConfig updater;
  updater.learning_rate = {.initial = 0.1};
  updater.kind = dl::device::Updater::kNesterov;
  CHECK(updater.step(0, 0, 4).momentum == Approx(0.6));
  CHECK(updater.step(0, 0, 4).learning_rate == Approx(0.4));
  CHECK(updater.step(0, 0, 32).momentum == 0);
  CHECK(updater.step(0, 0, 32).learning_rate == Approx(1));
  updater.kind = dl::device::Updater::kAdam;
  CHECK(updater.step(0, 0, 2).beta1 == Approx(0.8));
  CHECK(updater.step(0, 0, 2).learning_rate == 0.1);
  CHECK(updater.step(0, 0, 64).beta1 == 0);
  CHECK(updater.step(0, 0, 64).beta2 == Approx(0.936));
  CHECK(updater.step(0, 0, 1000).beta2 == 0.9);
  updater.kind = dl::device::Updater::kAdaGrad;
  CHECK(updater.step(0, 0, 64).learning_rate == Approx(0.1 / 8));
  // It divides by what a gradient differs from the mean.
  updater.kind = dl::device::Updater::kAdaBelief;
  CHECK(updater.step(0, 0, 64).beta1 == 0.9);
}

TEST_CASE("an updater's momentum may change") {
  dl::nn::UpdaterConfig updater;
  updater.momentum = {.kind = Schedule::Kind::kMap,
                      .values = {{0, 0.5}, {10, 0.9}}};
  CHECK(updater.step(9, 0).momentum == 0.5);
  CHECK(updater.step(10, 0).momentum == 0.9);
}

TEST_CASE("an inverse schedule falls by its power") {
  const Schedule s{
      .kind = Schedule::Kind::kInverse, .initial = 2, .decay = 0.5, .power = 2};
  CHECK(s.at(0, 0) == 2);
  CHECK(s.at(2, 0) == Approx(2 / 4.0).epsilon(1e-14));
  CHECK(s.at(8, 0) == Approx(2 / 25.0).epsilon(1e-14));
}

TEST_CASE("a sigmoid schedule is at half in its middle") {
  const Schedule s{.kind = Schedule::Kind::kSigmoid,
                   .initial = 1,
                   .decay = 0.1,
                   .middle = 100};
  CHECK(s.at(0, 0) == Approx(1 / (1 + std::exp(-10.0))).epsilon(1e-14));
  CHECK(s.at(100, 0) == 0.5);
  CHECK(s.at(110, 0) == Approx(1 / (1 + std::exp(1.0))).epsilon(1e-14));
  CHECK(s.at(100000000, 0) == 0);
}

TEST_CASE("a cosine schedule ends at its last value, and stays") {
  const Schedule s{
      .kind = Schedule::Kind::kCosine, .initial = 1, .limit = 100, .last = 0.2};
  CHECK(s.at(0, 0) == 1);
  CHECK(s.at(50, 0) == Approx(0.6).epsilon(1e-12));
  CHECK(s.at(25, 0) == Approx(0.2 + 0.4 * (1 + std::sqrt(0.5))).epsilon(1e-12));
  CHECK(s.at(100, 0) == 0.2);
  CHECK(s.at(5000, 0) == 0.2);
}

TEST_CASE("a cycle rises, falls and anneals, and begins anew") {
  const Schedule s{.kind = Schedule::Kind::kCycle,
                   .initial = 0.1,
                   .decay = 0.01,
                   .peak = 1,
                   .length = 100,
                   .annealing = 0.2};
  const double want[][2] = {{0, 0.1},  {20, 0.55}, {40, 1},    {60, 0.55},
                            {80, 0.1}, {90, 0.01}, {100, 0.1}, {140, 1}};
  for (const auto& [i, value] : want) {
    CAPTURE(i);
    CHECK(s.at(static_cast<std::int64_t>(i), 0) ==
          Approx(value).epsilon(1e-12));
  }
  const Schedule whole{.kind = Schedule::Kind::kCycle,
                       .initial = 1,
                       .decay = 0.1,
                       .peak = 3,
                       .length = 4};
  for (const auto& [i, value] : {std::pair{0, 1}, {1, 2}, {2, 3}, {3, 2}})
    CHECK(whole.at(i, 0) == value);
}

TEST_CASE("a map holds each value until the next") {
  const Schedule s{.kind = Schedule::Kind::kMap,
                   .by_epoch = true,
                   .values = {{0, 1}, {3, 0.5}, {10, 0.25}}};
  CHECK(s.at(99, 0) == 1);
  CHECK(s.at(99, 2) == 1);
  CHECK(s.at(99, 3) == 0.5);
  CHECK(s.at(99, 9) == 0.5);
  CHECK(s.at(99, 1000) == 0.25);
}

TEST_CASE("a warm-up rises in even steps to what would be without") {
  const Schedule fixed{.initial = 3, .warmup = 4};
  CHECK(fixed.at(0, 0) == 0.75);
  CHECK(fixed.at(2, 0) == 2.25);
  CHECK(fixed.at(3, 0) == 3);
  CHECK(fixed.at(9, 0) == 3);
  Schedule warm{.kind = Schedule::Kind::kCosine, .initial = 1, .limit = 100};
  const Schedule cold = warm;
  warm.warmup = 10;
  CHECK(warm.at(4, 0) == Approx(cold.at(4, 0) / 2).epsilon(1e-14));
  CHECK(warm.at(9, 0) == cold.at(9, 0));
  CHECK(warm.at(50, 0) == cold.at(50, 0));
  warm.by_epoch = true;
  CHECK(warm.at(50, 1) == Approx(0.2).epsilon(1e-3));
}

// Keras's, CosineDecay(0.1, 100, warmup_target=1, warmup_steps=10, alpha=0.2).
TEST_CASE("a schedule begins behind a warm-up from a value") {
  Schedule s{.kind = Schedule::Kind::kCosine,
             .initial = 1,
             .limit = 100,
             .last = 0.2,
             .warmup = 10,
             .warmup_from = 0.1};
  CHECK(s.at(0, 0) == 0.1);
  CHECK(s.at(5, 0) == Approx(0.55).epsilon(1e-14));
  CHECK(s.at(10, 0) == 1);
  CHECK(s.at(60, 0) == Approx(0.6).epsilon(1e-12));
  CHECK(s.at(110, 0) == 0.2);
  CHECK(s.largest() == 1);
  s.warmup_from = 3;
  CHECK(s.largest() == 3);
  s.warmup = 0;
  CHECK(s.at(0, 0) == 1);
  CHECK(s.largest() == 1);
}

// As Keras's CosineDecayRestarts(1, 10, t_mul=2, m_mul=0.5, alpha=0.1).
TEST_CASE("cosines follow each other, each longer and lower") {
  Schedule s{.kind = Schedule::Kind::kCosine,
             .initial = 1,
             .decay = 0.5,
             .limit = 10,
             .last = 0.1,
             .growth = 2};
  CHECK(s.at(0, 0) == 1);
  CHECK(s.at(5, 0) == Approx(0.55).epsilon(1e-12));
  CHECK(s.at(10, 0) == Approx(0.55).epsilon(1e-12));
  CHECK(s.at(20, 0) == Approx(0.325).epsilon(1e-12));
  CHECK(s.at(30, 0) == Approx(0.325).epsilon(1e-12));
  CHECK(s.at(50, 0) == Approx(0.2125).epsilon(1e-12));
  CHECK(s.largest() == 1);
  s.growth = 1;
  CHECK(s.at(10, 0) == Approx(0.55).epsilon(1e-12));
  CHECK(s.at(35, 0) == Approx(0.1 + 0.9 / 16).epsilon(1e-12));
  s.decay = 2;
  CHECK(std::isinf(s.largest()));
}

TEST_CASE("an inverse schedule may fall in steps") {
  const Schedule s{.kind = Schedule::Kind::kInverse,
                   .initial = 1,
                   .decay = 0.5,
                   .every = 10};
  CHECK(s.at(9, 0) == 1);
  CHECK(s.at(10, 0) == Approx(1 / 1.5).epsilon(1e-14));
  CHECK(s.at(29, 0) == 0.5);
}

TEST_CASE("a schedule's largest value bounds it") {
  using Kind = Schedule::Kind;
  CHECK(Schedule{.initial = 3}.largest() == 3);
  for (const Kind kind : {Kind::kStep, Kind::kExponential}) {
    CHECK(Schedule{.kind = kind, .initial = 2, .decay = 0.5}.largest() == 2);
    CHECK(std::isinf(
        Schedule{.kind = kind, .initial = 2, .decay = 1.5}.largest()));
    CHECK(Schedule{.kind = kind, .initial = 0, .decay = 1.5}.largest() == 0);
  }
  CHECK(Schedule{.kind = Kind::kCosine, .initial = 1, .last = 2}.largest() ==
        2);
  CHECK(Schedule{.kind = Kind::kCycle, .initial = 1, .peak = 5}.largest() == 5);
  CHECK(Schedule{.kind = Kind::kMap, .values = {{0, 1}, {5, 7}, {6, 2}}}
            .largest() == 7);
}

TEST_CASE("schedules are read as they are written") {
  for (const char* text :
       {R"({"schedule": "fixed", "initial": 0.1, "warmup": 7})",
        R"({"schedule": "step", "initial": 1, "decay": 0.5, "every": 3})",
        R"({"schedule": "exponential", "initial": 1, "decay": 0.5})",
        R"({"schedule": "polynomial", "initial": 1, "power": 2,
               "limit": 9, "by": "epoch", "warmup": 2})",
        R"({"schedule": "inverse", "initial": 1, "decay": 2, "power": 3})",
        R"({"schedule": "sigmoid", "initial": 1, "decay": 2, "middle": 3})",
        R"({"schedule": "cosine", "initial": 1, "limit": 5, "final": 2})",
        R"({"schedule": "cycle", "initial": 1, "peak": 5, "length": 9,
               "annealing": 0.5, "decay": 0.25})",
        R"({"schedule": "map", "values": {"0": 1, "20": 3, "100": 2}})"}) {
    CAPTURE(text);
    const dl::Json given = dl::Json::parse(text);
    const Schedule schedule = dl::nn::schedule_of(given);
    const dl::Json written = dl::nn::to_json(schedule);
    CHECK(dl::nn::schedule_of(written) == schedule);
    for (const auto& [key, value] : given.items()) {
      CAPTURE(key);
      CHECK(written.at(key) == value);
    }
  }
  CHECK(dl::nn::to_json(Schedule{.initial = 0.5}) == dl::Json(0.5));
}

}  // namespace dl::nn::schedule_test
