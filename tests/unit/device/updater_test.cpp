// Updaters against values worked out by hand from dl-network(5), and the cpu
// device against the reference.

#include "tests/unit/device/lab.h"

using namespace dl::device::test;
using dl::Error;
using dl::tensor::initial_state;
using dl::tensor::state_per_parameter;
using dl::tensor::Updater;
using dl::tensor::UpdaterStep;

namespace {

// The updates of one parameter whose gradients are 0.5, then -0.25.
Values two_steps(const char* name, UpdaterStep step) {
  Lab lab(name);
  const auto state = [&](int component) {
    if (component >= state_per_parameter(step.kind)) return View{};
    return lab.put(Shape{1}, {initial_state(step)});
  };
  const View m = state(0), v = state(1);
  Values updates;
  for (const double gradient : {0.5, -0.25}) {
    const View g = lab.put(Shape{1}, {gradient});
    lab.device().update(step, g, m, v);
    updates.push_back(lab.get(g)[0]);
    ++step.step;
  }
  return updates;
}

}  // namespace

TEST_CASE("updaters, by hand") {
  struct Known {
    const char* name;
    UpdaterStep step;
    Values updates;
  };
  const std::vector<Known> known = {
      {"none", {.kind = Updater::kNone, .learning_rate = 9}, {0.5, -0.25}},
      {"sgd", {.kind = Updater::kSgd, .learning_rate = 0.1}, {0.05, -0.025}},
      // v = -.05, u = 1.9 * .05;  v = -.045 + .025, u = -.045 + 1.9 * .02
      {"nesterov",
       {.kind = Updater::kNesterov, .learning_rate = 0.1, .momentum = 0.9},
       {0.095, -0.007}},
      // h = .01 + .25, u = .05 / (sqrt(.26) + .01);  h = .3225
      {"adagrad",
       {.kind = Updater::kAdaGrad, .learning_rate = 0.1, .epsilon = 0.01},
       {0.05 / (std::sqrt(0.26) + 0.01), -0.025 / (std::sqrt(0.3225) + 0.01)}},
      // s = .8 * .01 + .2 * .25 = .058;  s = .8 * .058 + .2 * .0625 = .0589
      {"rmsprop",
       {.kind = Updater::kRmsProp,
        .learning_rate = 0.1,
        .beta2 = 0.8,
        .epsilon = 0.01},
       {0.05 / (std::sqrt(0.058) + 0.01), -0.025 / (std::sqrt(0.0589) + 0.01)}},
      // m = .05, v = .05, alpha = .1 * sqrt(.2) / .1;
      // m = .02, v = .0525, alpha = .1 * sqrt(.36) / .19; epsilon is added to
      // the root of the uncorrected v.
      {"adam",
       {.kind = Updater::kAdam,
        .learning_rate = 0.1,
        .beta1 = 0.9,
        .beta2 = 0.8,
        .epsilon = 0.01},
       {std::sqrt(0.2) * 0.05 / (std::sqrt(0.05) + 0.01),
        0.1 * 0.6 / 0.19 * 0.02 / (std::sqrt(0.0525) + 0.01)}}};
  for (const Known& k : known) {
    CAPTURE(k.name);
    check_close(two_steps("reference", k.step), k.updates, 1e-12);
    check_close(two_steps("cpu", k.step), k.updates, 1e-6);
  }
}

TEST_CASE("cpu updaters agree with the reference over many steps") {
  for (const Updater kind :
       {Updater::kNone, Updater::kSgd, Updater::kNesterov, Updater::kAdam,
        Updater::kAdaGrad, Updater::kRmsProp})
    for (const std::int64_t n : {1, 15, 16, 1003}) {
      CAPTURE(static_cast<int>(kind), n);
      check_like_reference(
          [&](Lab& lab) {
            UpdaterStep step{.kind = kind, .learning_rate = 0.01};
            const Values start(static_cast<std::size_t>(n),
                               initial_state(step));
            const int components = state_per_parameter(kind);
            const View m = components > 0 ? lab.put(Shape{n}, start) : View{};
            const View v = components > 1 ? lab.put(Shape{n}, start) : View{};
            View g;
            for (step.step = 1; step.step <= 20; ++step.step) {
              g = lab.random(Shape{n}, static_cast<std::uint64_t>(step.step));
              lab.device().update(step, g, m, v);
            }
            return lab.get(g);
          },
          1e-5);
    }
}

TEST_CASE("regularisation") {
  for (const char* name : {"cpu", "reference"}) {
    Lab lab(name);
    const View g = lab.put(Shape{4}, {1, 1, 1, kNan});
    const View w = lab.put(Shape{4}, {2, -3, 0, 1});
    lab.device().regularize(g, w, 0.5, 0.25);
    const Values expected = {2, -0.25, 1};
    for (std::size_t i = 0; i < 3; ++i) CHECK(lab.get(g)[i] == expected[i]);
    CHECK(std::isnan(lab.get(g)[3]));
  }
  for (const std::int64_t n : {1, 17, 1000})
    check_like_reference([&](Lab& lab) {
      const View g = lab.random(Shape{n}, 1);
      lab.device().regularize(g, lab.random(Shape{n}, 2), 1e-2, 5e-2);
      return lab.get(g);
    });
}

TEST_CASE("a NaN gradient shows in the update") {
  for (const char* name : {"cpu", "reference"})
    for (const Updater kind :
         {Updater::kNone, Updater::kSgd, Updater::kNesterov, Updater::kAdam,
          Updater::kAdaGrad, Updater::kRmsProp}) {
      CAPTURE(name, static_cast<int>(kind));
      Lab lab(name);
      const View g = lab.random(Shape{20}, 1);
      lab.device().fill(g.at(13, Shape{1}), kNan);
      const auto state = [&](int component) {
        return component < state_per_parameter(kind)
                   ? lab.random(Shape{20}, 2, 0.1, 1)
                   : View{};
      };
      lab.device().update({.kind = kind, .learning_rate = 0.1}, g, state(0),
                          state(1));
      CHECK_FALSE(lab.device().all_finite(g));
    }
}

TEST_CASE("updaters refuse state that does not fit") {
  for (const char* name : {"cpu", "reference"}) {
    Lab lab(name);
    const View g = lab.random(Shape{4}, 1), s = lab.random(Shape{4}, 2),
               bad = lab.random(Shape{3}, 3);
    dl::tensor::Device& d = lab.device();
    CHECK_THROWS_AS(d.update({.kind = Updater::kSgd}, g, s, {}), Error);
    CHECK_THROWS_AS(d.update({.kind = Updater::kAdam}, g, s, {}), Error);
    CHECK_THROWS_AS(d.update({.kind = Updater::kAdam}, g, s, bad), Error);
    CHECK_THROWS_AS(d.update({.kind = Updater::kAdaGrad}, g, {}, {}), Error);
    CHECK_THROWS_AS(d.regularize(g, bad, 1, 1), Error);
  }
}
