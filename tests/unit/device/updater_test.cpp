// Updaters against values worked out by hand from dl-network(5), and the cpu
// device against the reference.

#include "tests/unit/device/lab.h"

namespace dl::device::updater_test {

using namespace dl::device::test;
using dl::device::EpsilonAt;
using dl::device::initial_state;
using dl::device::state_per_parameter;
using dl::device::StateViews;
using dl::device::Updater;
using dl::device::UpdaterStep;
using dl::device::UpdateTo;
using dl::device::Updating;

namespace {

// Whether what it wrote is finite.
bool step_is_finite(Lab& lab, const UpdaterStep& step, UpdateTo to, View g,
                    View w, const StateViews& state) {
  return number_of(lab.device(), [&](View number) {
           const Updating all[] = {{number, step, g, w, state}};
           lab.device().update(to, all);
         }) == 0;
}

const std::vector<Updater> kUpdaters = {
    Updater::kNone,     Updater::kSgd,   Updater::kNesterov,
    Updater::kMomentum, Updater::kAdam,  Updater::kAdaGrad,
    Updater::kRmsProp,  Updater::kAdamW, Updater::kAmsGrad,
    Updater::kAdaMax,   Updater::kNadam, Updater::kAdaBelief,
    Updater::kAdaDelta};

// Each component of the state as make() has it.
template <typename Make>
StateViews state_for(Updater kind, const Make& make) {
  StateViews state;
  for (int i = 0; i < state_per_parameter(kind); ++i)
    state[static_cast<std::size_t>(i)] = make();
  return state;
}

// The updates of one parameter whose gradients are 0.5, then -0.25.
Values two_steps(const char* name, UpdaterStep step) {
  Lab lab(name);
  const StateViews state = state_for(
      step.kind, [&] { return lab.put(Shape{1}, {initial_state(step)}); });
  Values updates;
  for (const double gradient : {0.5, -0.25}) {
    const View g = lab.put(Shape{1}, {gradient});
    CHECK(step_is_finite(lab, step, UpdateTo::kGradient, g, {}, state));
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
      // v = -.05;  v = -.045 + .025
      {"momentum",
       {.kind = Updater::kMomentum, .learning_rate = 0.1, .momentum = 0.9},
       {0.05, 0.02}},
      {"adagrad, as Keras has it",
       {.kind = Updater::kAdaGrad,
        .learning_rate = 0.1,
        .epsilon = 0.01,
        .epsilon_at = EpsilonAt::kSquare,
        .start = 0.1},
       {0.05 / std::sqrt(0.36), -0.025 / std::sqrt(0.4225)}},
      {"rmsprop, as Keras has it",
       {.kind = Updater::kRmsProp,
        .learning_rate = 0.1,
        .beta2 = 0.8,
        .epsilon = 0.01,
        .epsilon_at = EpsilonAt::kSquare,
        .start = 0},
       {0.05 / std::sqrt(0.06), -0.025 / std::sqrt(0.0625)}},
      // Parts of the mean v / (1 - beta2^t), .25 and .0525 / .36.
      {"adam, as PyTorch has it",
       {.kind = Updater::kAdam,
        .learning_rate = 0.1,
        .beta1 = 0.9,
        .beta2 = 0.8,
        .epsilon = 0.01,
        .epsilon_at = EpsilonAt::kCorrected},
       {0.1 * 0.5 / 0.51,
        0.1 * 0.02 / 0.19 / (std::sqrt(0.0525 / 0.36) + 0.01)}},
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
        0.1 * 0.6 / 0.19 * 0.02 / (std::sqrt(0.0525) + 0.01)}},
      // v = .0525 is more than .05 here; with gradients .5 and -.25 and beta2
      // .5 it falls, from .125 to .09375, and the larger stays.
      {"amsgrad",
       {.kind = Updater::kAmsGrad,
        .learning_rate = 0.1,
        .beta1 = 0.9,
        .beta2 = 0.5,
        .epsilon = 0.01},
       {0.1 * std::sqrt(0.5) / 0.1 * 0.05 / (std::sqrt(0.125) + 0.01),
        0.1 * std::sqrt(0.75) / 0.19 * 0.02 / (std::sqrt(0.125) + 0.01)}},
      // n = .5 + .01, then the larger of .8 * .51 and .26
      {"adamax",
       {.kind = Updater::kAdaMax,
        .learning_rate = 0.1,
        .beta1 = 0.9,
        .beta2 = 0.8,
        .epsilon = 0.01},
       {0.1 / 0.1 * 0.05 / 0.51, 0.1 / 0.19 * 0.02 / 0.408}},
      // s = .2 * .45^2 + .01;  s = .8 s + .2 * .27^2 + .01
      {"adabelief",
       {.kind = Updater::kAdaBelief,
        .learning_rate = 0.1,
        .beta1 = 0.9,
        .beta2 = 0.8,
        .epsilon = 0.01},
       {std::sqrt(0.2) * 0.05 / (std::sqrt(0.0505) + 0.01),
        0.1 * 0.6 / 0.19 * 0.02 / (std::sqrt(0.06498) + 0.01)}},
      // s = .05, u = .5 sqrt(.01 / .06), d = .2 u^2; s = .0525
      {"adadelta",
       {.kind = Updater::kAdaDelta,
        .learning_rate = 0.1,
        .beta2 = 0.8,
        .epsilon = 0.01},
       {0.05 * std::sqrt(0.01 / 0.06),
        -0.025 * std::sqrt((0.05 * 0.01 / 0.06 + 0.01) / 0.0625)}}};
  for (const Known& k : known) {
    CAPTURE(k.name);
    check_close(two_steps("reference", k.step), k.updates, 1e-12);
    check_close(two_steps(tested(), k.step), k.updates, 1e-6);
  }
}

// A parameter that starts at 1 after 1, 2, 10 and 20 steps with gradients that
// change their size and sign.
Values course(const char* name, UpdaterStep step) {
  Lab lab(name);
  const StateViews state =
      state_for(step.kind, [&] { return lab.put(Shape{1}, {0}); });
  const View w = lab.put(Shape{1}, {1});
  Values after;
  for (step.step = 1; step.step <= 20; ++step.step) {
    const auto t = static_cast<int>(step.step);
    const View g =
        lab.put(Shape{1}, {(t * 7 % 11 - 5) / 8.0 * (t < 6 ? 3 : 1)});
    CHECK(step_is_finite(lab, step, UpdateTo::kParameters, g, w, state));
    if (t == 1 || t == 2 || t % 10 == 0) after.push_back(lab.get(w)[0]);
  }
  return after;
}

TEST_CASE("updaters are PyTorch's over 20 steps, where it has the rule") {
  // Made with torch.optim of PyTorch 2.15 in float64; its epsilon stands after
  // the correction of the bias.
  struct Known {
    const char* name;
    UpdaterStep step;
    Values after;
  };
  const Known known[] = {
      {"Adam",
       {.kind = Updater::kAdam, .learning_rate = 0.01},
       {0.990000000133, 0.990526315916, 0.970843862875, 0.966221169676}},
      {"AdamW, weight_decay 0.1",
       {.kind = Updater::kAdamW, .learning_rate = 0.01, .decay = 0.001},
       {0.989000000133, 0.988537315916, 0.961069170820, 0.946893145126}},
      {"Adam, amsgrad",
       {.kind = Updater::kAmsGrad, .learning_rate = 0.01},
       {0.990000000133, 0.990526315916, 0.970844871991, 0.966222677251}},
      {"Adamax",
       {.kind = Updater::kAdaMax, .learning_rate = 0.01},
       {0.990000000133, 0.990526315916, 0.979229966163, 0.977515769545}},
      {"NAdam",
       {.kind = Updater::kNadam, .learning_rate = 0.01},
       {0.989435482357, 0.996380590101, 0.986166331760, 0.983098478400}},
      {"Adadelta, rho 0.95",
       {.kind = Updater::kAdaDelta,
        .learning_rate = 1,
        .beta2 = 0.95,
        .epsilon = 1e-6},
       {0.995527943548, 1.000056970137, 0.995151922829, 0.994486187840}}};
  for (const Known& k : known) {
    CAPTURE(k.name);
    check_close(course("reference", k.step), k.after, 1e-7);
    check_close(course(tested(), k.step), k.after, 3e-6);
  }
}

TEST_CASE("nadam's momentum is that of all steps before, however many") {
  for (const double beta1 : {0.0, 0.5, 0.9, 0.9999})
    for (const std::int64_t t : {1, 2, 100, 5000}) {
      CAPTURE(beta1, t);
      check_like_reference(
          [&](Lab& lab) {
            const View g = lab.put(Shape{1}, {0.5}), m = lab.put(Shape{1}, {1}),
                       v = lab.put(Shape{1}, {1});
            CHECK(step_is_finite(lab,
                                 {.kind = Updater::kNadam,
                                  .learning_rate = 1,
                                  .beta1 = beta1,
                                  .step = t},
                                 UpdateTo::kGradient, g, {}, {m, v}));
            return lab.get(g);
          },
          1e-5);
    }
}

TEST_CASE("nadam's momentum rises as fast as is said") {
  // With 0.96^t: b(1) = .468, b(2) = .48528; m = .05, v = .00025.
  const double b1 = 0.9 * (1 - 0.5 * 0.96), b2 = 0.9 * (1 - 0.5 * 0.96 * 0.96);
  const double mean = b2 * 0.05 / (1 - b1 * b2) + 0.5;
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    check_close({two_steps(name, {.kind = Updater::kNadam,
                                  .learning_rate = 0.1,
                                  .momentum_decay = 1})[0]},
                {0.1 * mean / 0.5}, 1e-6);
  }
}

TEST_CASE("decay is added to the update, after the updater") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const UpdaterStep step{
        .kind = Updater::kSgd, .learning_rate = 0.5, .decay = 0.25};
    const View g = lab.put(Shape{3}, {1, 2, 0}),
               w = lab.put(Shape{3}, {4, -8, 2});
    CHECK(step_is_finite(lab, step, UpdateTo::kParameters, g, w, {}));
    CHECK(lab.get(w) == Values{4 - 0.5 - 1, -8 - 1 + 2.0, 2 - 0.5});
    const View again = lab.put(Shape{3}, {4, -8, 2});
    CHECK(step_is_finite(lab, step, UpdateTo::kGradient, g, again, {}));
    CHECK(lab.get(g) == Values{1.5, -1, 0.5});
    CHECK(lab.get(again) == Values{4, -8, 2});
  }
}

TEST_CASE("cpu updaters agree with the reference over many steps") {
  if (halves()) return;  // parameters and their gradients are floats
  const Updater kind = GENERATE(from_range(kUpdaters));
  const bool apply = GENERATE(false, true), prepare = GENERATE(false, true);
  for (const std::int64_t n : {0, 1, 7, 15, 16, 17, 33, 1003}) {
    CAPTURE(static_cast<int>(kind), apply, prepare, n);
    check_like_reference(
        [&](Lab& lab) {
          UpdaterStep step{.kind = kind, .learning_rate = 0.01};
          if (prepare) {
            step.scale = 0.7;
            step.limit = 0.4;
            step.l1 = 1e-2;
            step.l2 = 5e-2;
            step.decay = 2e-3;
          }
          const Values start(static_cast<std::size_t>(n), initial_state(step));
          const View w = lab.random(Shape{n}, 99);
          const StateViews state =
              state_for(kind, [&] { return lab.put(Shape{n}, start); });
          Values all;
          for (step.step = 1; step.step <= 20; ++step.step) {
            const View g =
                lab.random(Shape{n}, static_cast<std::uint64_t>(step.step));
            CHECK(step_is_finite(
                lab, step, apply ? UpdateTo::kParameters : UpdateTo::kGradient,
                g, w, state));
            all = lab.get(g);
          }
          for (const View& view : {w, state[0], state[1], state[2]})
            if (!view.empty())
              for (const double value : lab.get(view)) all.push_back(value);
          return all;
        },
        1e-5);
  }
}

TEST_CASE(
    "what a step is multiplied with, and whether it is made, are found on the "
    "device") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    dl::device::Device& d = lab.device();
    const auto numbers = d.allocate(Shape{2}, DType::kF64);
    const View factor = numbers->view().at(0, Shape{1}),
               guard = numbers->view().at(1, Shape{1});
    d.fill(factor, 0.5);
    const UpdaterStep step{.factor = factor,
                           .guard = guard,
                           .scale = 3,
                           .kind = Updater::kNesterov,
                           .learning_rate = 1,
                           .momentum = 0};
    const View g = lab.put(Shape{3}, {2, -4, 6});
    const View w = lab.put(Shape{3}, {1, 1, 1});
    const StateViews state = {lab.put(Shape{3}, {0, 0, 0})};
    CHECK(step_is_finite(lab, step, UpdateTo::kParameters, g, w, state));
    CHECK(lab.get(w) == Values{-2, 7, -8});
    d.fill(guard, kNan);
    const Values before = lab.get(state[0]);
    CHECK_FALSE(step_is_finite(lab, step, UpdateTo::kParameters, g, w, state));
    CHECK_FALSE(step_is_finite(lab, step, UpdateTo::kGradient, g, w, state));
    CHECK(lab.get(w) == Values{-2, 7, -8});
    CHECK(lab.get(g) == Values{2, -4, 6});
    CHECK(lab.get(state[0]) == before);
  }
}

TEST_CASE("scale, clip, l2 and l1 come before the updater, in that order") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const UpdaterStep step{.scale = 0.5,
                           .limit = 2,
                           .l1 = 0.5,
                           .l2 = 0.25,
                           .kind = Updater::kSgd,
                           .learning_rate = 2};
    const Values gradient = {2, 6, -6, 2}, weights = {2, -3, 0, 1};
    const Values update = {2 * (1 + 0.5 + 0.5), 2 * (2 - 0.75 - 0.5), 2 * -2.0,
                           2 * (1 + 0.25 + 0.5)};
    const View g = lab.put(Shape{4}, gradient), w = lab.put(Shape{4}, weights);
    CHECK(step_is_finite(lab, step, UpdateTo::kParameters, g, w, {}));
    CHECK(lab.get(g) == gradient);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(lab.get(w)[i] == weights[i] - update[i]);
    const View again = lab.put(Shape{4}, weights);
    CHECK(step_is_finite(lab, step, UpdateTo::kGradient, g, again, {}));
    CHECK(lab.get(g) == update);
    CHECK(lab.get(again) == weights);
  }
}

TEST_CASE("an update that is not finite is told, wherever it is") {
  const char* name = GENERATE(tested(), "reference");
  const Updater kind = GENERATE(from_range(kUpdaters));
  const UpdateTo to = GENERATE(UpdateTo::kGradient, UpdateTo::kParameters);
  for (const std::int64_t at : {0, 13, 16, 36}) {
    CAPTURE(name, static_cast<int>(kind), at);
    Lab lab(name);
    const StateViews state =
        state_for(kind, [&] { return lab.random(Shape{37}, 2, 0.1, 1); });
    const View g = lab.random(Shape{37}, 1), w = lab.random(Shape{37}, 3);
    const UpdaterStep step{.kind = kind, .learning_rate = 0.1};
    CHECK(step_is_finite(lab, step, to, g, w, state));
    lab.device().fill(g.at(at, Shape{1}), kNan);
    CHECK_FALSE(step_is_finite(lab, step, to, g, w, state));
  }
}

TEST_CASE("a step that overflows is told, though its update be small") {
  struct Case {
    Updater kind;
    double gradient, weight;
  };
  for (const Case& c :
       {Case{Updater::kSgd, 3e38, -3e38},  // w - u
        Case{Updater::kAdaGrad, 1e30, 0},  // the square of g,
        Case{Updater::kRmsProp, 1e30, 0},  // and u = 0
        Case{Updater::kAdam, 1e30, 0}, Case{Updater::kAmsGrad, 1e30, 0},
        Case{Updater::kNadam, 1e30, 0}, Case{Updater::kAdaBelief, 1e30, 0},
        Case{Updater::kAdaDelta, 1e30, 0}}) {
    CAPTURE(static_cast<int>(c.kind));
    Lab lab(tested());
    CHECK_FALSE(step_is_finite(
        lab, {.kind = c.kind, .learning_rate = 0.9}, UpdateTo::kParameters,
        lab.put(Shape{1}, {c.gradient}), lab.put(Shape{1}, {c.weight}),
        state_for(c.kind, [&] { return lab.put(Shape{1}, {0}); })));
  }
}

TEST_CASE("updaters refuse what does not fit") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View g = lab.random(Shape{4}, 1), w = lab.random(Shape{4}, 4),
               s = lab.random(Shape{4}, 2), bad = lab.random(Shape{3}, 3);
    const auto refused = [&](const UpdaterStep& step, UpdateTo to, View weights,
                             const StateViews& state) {
      CHECK_THROWS_AS(step_is_finite(lab, step, to, g, weights, state), Error);
    };
    refused({.kind = Updater::kSgd}, UpdateTo::kGradient, w, {s});
    refused({.kind = Updater::kAdam}, UpdateTo::kGradient, w, {s});
    refused({.kind = Updater::kAdam}, UpdateTo::kGradient, w, {s, bad});
    refused({.kind = Updater::kAmsGrad}, UpdateTo::kGradient, w, {s, s});
    refused({.kind = Updater::kAdaGrad}, UpdateTo::kGradient, w, {});
    refused({.kind = Updater::kSgd}, UpdateTo::kGradient, bad, {});
    refused({.decay = 1}, UpdateTo::kGradient, {}, {});
    refused({.l2 = 1}, UpdateTo::kGradient, {}, {});
    refused({}, UpdateTo::kParameters, {}, {});
  }
}

TEST_CASE("many tensors at once are updated as one after the other") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab together(name), apart(name);
    constexpr std::size_t kTensors = 37, kBroken = 20;
    std::vector<Updating> all, each;
    std::vector<std::unique_ptr<dl::tensor::Buffer>> numbers;
    for (Lab* const lab : {&together, &apart}) {
      numbers.push_back(lab->device().allocate(Shape{kTensors}, DType::kF64));
      std::vector<Updating>& tensors = lab == &together ? all : each;
      for (std::size_t t = 0; t < kTensors; ++t) {
        const Updater kind = kUpdaters[t % kUpdaters.size()];
        const Shape shape{static_cast<std::int64_t>(t * t + 1)};
        tensors.push_back(
            {.number = numbers.back()->view().at(static_cast<std::int64_t>(t),
                                                 Shape{1}),
             .step = {.l2 = 0.01 * static_cast<double>(t),
                      .kind = kind,
                      .learning_rate = 0.5 / static_cast<double>(t + 1)},
             .gradient = lab->random(shape, t),
             .parameters = lab->random(shape, t + 100),
             .state = state_for(
                 kind, [&] { return lab->random(shape, t + 200, 0.5, 1); })});
      }
      lab->device().fill(tensors[kBroken].gradient.at(7, Shape{1}), NAN);
    }
    together.device().update(UpdateTo::kParameters, all);
    together.device().update(UpdateTo::kParameters, {});
    for (const Updating& one : each)
      apart.device().update(UpdateTo::kParameters, {&one, 1});
    for (std::size_t t = 0; t < kTensors; ++t) {
      CAPTURE(t);
      double found = 0;
      together.device().read({&found, 1}, all[t].number);
      CHECK(std::isnan(found) == (t == kBroken));
      if (t == kBroken) continue;
      CHECK(together.get(all[t].parameters) == apart.get(each[t].parameters));
      for (std::size_t i = 0; i < all[t].state.size(); ++i)
        if (!all[t].state[i].empty())
          CHECK(together.get(all[t].state[i]) == apart.get(each[t].state[i]));
    }
  }
}

}  // namespace dl::device::updater_test
