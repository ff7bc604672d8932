// Schedules against their formulas in dl-network(5).

#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/nn/config.h"

using dl::nn::Schedule;

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

TEST_CASE("an updater's step carries its rate of the moment") {
  dl::nn::UpdaterConfig updater;
  updater.kind = dl::tensor::Updater::kAdam;
  updater.learning_rate = {
      .kind = Schedule::Kind::kExponential, .initial = 1, .decay = 0.5};
  updater.beta1 = 0.7;
  const auto step = updater.step(3, 1);
  CHECK(step.kind == dl::tensor::Updater::kAdam);
  CHECK(step.learning_rate == 0.125);
  CHECK(step.beta1 == 0.7);
  CHECK(step.step == 4);  // 1 at the first step
}
