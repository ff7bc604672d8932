// From gradients to updates: normalization, regularization, updaters and
// schedules, by hand.

#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/nn/update/update_plan.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::update_test {
namespace {

using testing::assign;
using testing::compile;
using testing::sequence;
using testing::values;

// One dense layer of 2 + 1 parameters and an output of 1 + 1: the flat vector
// is dense weight (2), bias (1), output weight (1), bias (1).
NetworkConfig tiny(const std::string& more) {
  return sequence("[2]", R"({"type": "dense", "units": 1},
      {"type": "output", "units": 1, "loss": "mean_squared_error"})",
                  more);
}

// Update that a network's plan computes from a gradient. Lanes share the
// device: that of the reference holds nothing.
std::vector<double> update_of(
    Network& network, const std::vector<double>& gradient,
    const Position& at = {}, int lanes = 1,
    device::UpdateTo to = device::UpdateTo::kGradient) {
  assign(network, network.update(), gradient);
  const Layout layout = layout_of(network.config());
  Memory memory(network.device());
  UpdatePlan plan(network.config(), layout,
                  plan_of(network.config(), layout, true).gradients, lanes,
                  memory);
  LaneTeam team(lanes);
  const tensor::View found[] = {network.update()};
  team.run([&](int lane) {
    plan.gather(lane, network.device(), found, 0, layout.parameter_count);
  });
  plan.judge(network.device(), {}, 0);
  team.run([&](int lane) {
    plan.step(lane, network.device(), at, to, true, {}, network.update(),
              network.parameters(), network.updater_state());
  });
  plan.judge_written(network.device());
  const UpdatePlan::StepResult all = plan.found(network.device());
  REQUIRE(all.gradient_finite);
  REQUIRE(all.update_finite);
  return values(network, network.update());
}

void check_close(const std::vector<double>& got,
                 const std::vector<double>& want, double tolerance = 1e-12) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i << ": " << got[i] << ", want " << want[i]);
    CHECK(std::abs(got[i] - want[i]) <= tolerance);
  }
}

TEST_CASE("gradient normalisations") {
  struct Case {
    const char* name;
    double threshold;
    std::vector<double> want;
  };
  // Dense: |(2, 3, 6)| = 7, weight |(2, 3)| = sqrt(13); output: |(0.3, 0.4)| =
  // 0.5.
  const double r13 = std::sqrt(13.0);
  const Case c = GENERATE_COPY(
      Case{"none", 1, {2, 3, 6, 0.3, -0.4}},
      Case{"renormalize_l2_per_layer",
           1,
           {2 / 7.0, 3 / 7.0, 6 / 7.0, 0.6, -0.8}},
      Case{"renormalize_l2_per_parameter", 1, {2 / r13, 3 / r13, 1, 1, -1}},
      Case{"clip_elementwise", 2.5, {2, 2.5, 2.5, 0.3, -0.4}},
      Case{"clip_elementwise", 0.35, {0.35, 0.35, 0.35, 0.3, -0.35}},
      Case{"clip_l2_per_layer", 3.5, {1, 1.5, 3, 0.3, -0.4}},
      Case{"clip_l2_per_layer", 0.25, {0.5 / 7, 0.75 / 7, 1.5 / 7, 0.15, -0.2}},
      Case{"clip_l2_per_parameter", 1, {2 / r13, 3 / r13, 1, 0.3, -0.4}});
  const int lanes = GENERATE(1, 2, 4);
  Network network = compile(
      tiny(std::string(R"(, "gradient_normalization": ")") + c.name +
           R"(", "gradient_threshold": )" + std::to_string(c.threshold) +
           R"(, "updater": {"type": "sgd", "learning_rate": 1})"),
      4);
  INFO(c.name << " " << c.threshold << ", " << lanes << " lanes");
  check_close(update_of(network, {2, 3, 6, 0.3, -0.4}, {}, lanes), c.want);
}

TEST_CASE("renormalizing leaves alone what is nearly zero") {
  const std::string kind = GENERATE(as<std::string>{}, "layer", "parameter");
  Network network = compile(
      tiny(R"(, "gradient_normalization": "renormalize_l2_per_)" + kind + R"(",
                   "updater": {"type": "sgd", "learning_rate": 1})"),
      4);
  check_close(update_of(network, {0, 0, 0, 1e-7, 0}), {0, 0, 0, 1e-7, 0});
}

TEST_CASE("normalization and updaters of a layer override those at the top") {
  Network network =
      compile(sequence("[2]", R"({"type": "dense", "units": 1,
          "gradient_normalization": "clip_elementwise",
          "gradient_threshold": 0.5,
          "updater": {"type": "sgd", "learning_rate": 2},
          "bias_updater": {"type": "sgd", "learning_rate": 3}},
        {"type": "output", "units": 1, "loss": "mean_squared_error"})",
                       R"(, "updater": {"type": "sgd", "learning_rate": 5})"),
              4);
  check_close(update_of(network, {0.1, 9, 9, 0.3, -0.4}),
              {0.2, 1, 1.5, 1.5, -2});
}

TEST_CASE("regularization is added after normalization") {
  Network network =
      compile(tiny(R"(, "gradient_normalization": "clip_elementwise",
          "gradient_threshold": 1,
          "regularization": {"l1": 10, "l2": 100, "l1_bias": 1, "l2_bias": 2},
          "updater": {"type": "sgd", "learning_rate": 1})"),
              4);
  assign(network, network.parameters(), {0.5, -0.5, 0.25, 0, -1});
  check_close(update_of(network, {7, 7, 7, 0.5, 0.5}),
              {1 + 10 + 50, 1 - 10 - 50, 1 + 1 + 0.5, 0.5, 0.5 - 1 - 2});
  CHECK(network.regularization_score() ==
        Approx(10 * 1 + 50 * 0.5 + 1.25 + 0.0625 + 1));
}

TEST_CASE("batch_norm is not regularized and follows the updater") {
  Network network =
      compile(sequence("[2]", R"({"type": "batch_norm"},
          {"type": "output", "units": 1, "loss": "mean_squared_error"})",
                       R"(, "regularization": {"l2": 1, "l2_bias": 1},
          "weight_init": "zero",
          "updater": {"type": "sgd", "learning_rate": 1},
          "bias_updater": {"type": "sgd", "learning_rate": 4})"),
              4);
  // gamma, gamma, beta, beta, weight, weight, bias
  check_close(update_of(network, {1, 2, 3, 4, 5, 6, 7}),
              {1, 2, 3, 4, 5, 6, 28});
  CHECK(network.regularization_score() == 0);
}

// Three steps with gradient 1, -2, 0.5 in the first parameter.
std::vector<double> three_updates(const std::string& updater, int lanes = 1) {
  Network network = compile(tiny(R"(, "updater": )" + updater), 4);
  std::vector<double> first;
  const double gradients[] = {1, -2, 0.5};
  for (int i = 0; i < 3; ++i)
    first.push_back(
        update_of(network, {gradients[i], 1, 1, 1, 1}, {i, i, 0}, lanes)[0]);
  return first;
}

TEST_CASE("updaters over three steps") {
  check_close(three_updates(R"({"type": "sgd", "learning_rate": 0.5})"),
              {0.5, -1, 0.25});
  // v: -0.1, 0.11, 0.049; update = 0.9 v_before - 1.9 v.
  check_close(
      three_updates(
          R"({"type": "nesterov", "learning_rate": 0.1, "momentum": 0.9})"),
      {0.19, -0.09 - 0.209, 0.099 - 0.0931});
  check_close(
      three_updates(R"({"type": "adagrad", "learning_rate": 0.1,
                        "epsilon": 1e-6})"),
      {0.1 / (std::sqrt(1 + 1e-6) + 1e-6), -0.2 / (std::sqrt(5 + 1e-6) + 1e-6),
       0.05 / (std::sqrt(5.25 + 1e-6) + 1e-6)});
  const double s1 = 0.5e-8 + 0.5, s2 = 0.5 * s1 + 2, s3 = 0.5 * s2 + 0.125;
  check_close(three_updates(R"({"type": "rmsprop", "learning_rate": 0.1,
                                "decay": 0.5, "epsilon": 1e-8})"),
              {0.1 / (std::sqrt(s1) + 1e-8), -0.2 / (std::sqrt(s2) + 1e-8),
               0.05 / (std::sqrt(s3) + 1e-8)});
  // adam: the moments corrected for their start, epsilon outside.
  double m = 0, v = 0;
  std::vector<double> want;
  const double gradients[] = {1, -2, 0.5};
  for (int t = 1; t <= 3; ++t) {
    const double g = gradients[t - 1];
    m = 0.8 * m + 0.2 * g;
    v = 0.9 * v + 0.1 * g * g;
    const double alpha =
        0.01 * std::sqrt(1 - std::pow(0.9, t)) / (1 - std::pow(0.8, t));
    want.push_back(alpha * m / (std::sqrt(v) + 1e-8));
  }
  for (const int lanes : {1, 2, 3})
    check_close(three_updates(R"({"type": "adam", "learning_rate": 0.01,
                                  "beta1": 0.8, "beta2": 0.9})",
                              lanes),
                want);
}

TEST_CASE("adamw decays weights, and neither biases nor batch_norm") {
  const std::string rates = R"("learning_rate": 0.5, "beta1": 0.5})";
  const std::string layers = R"({"type": "batch_norm"},
      {"type": "output", "units": 1, "loss": "mean_squared_error"})";
  Network plain = compile(
      sequence("[2]", layers, R"(, "updater": {"type": "adam", )" + rates), 4);
  Network decayed = compile(
      sequence(
          "[2]", layers,
          R"(, "updater": {"type": "adamw", "weight_decay": 0.2, )" + rates),
      4);
  // gamma, gamma, beta, beta, weight, weight, bias
  const std::vector<double> parameters = {1, 2, 3, 4, 5, -6, 7};
  const std::vector<double> gradient = {1, -2, 3, 4, 5, 6, 7};
  assign(decayed, decayed.parameters(), parameters);
  std::vector<double> want = update_of(plain, gradient);
  want[4] += 0.5 * 0.2 * 5;
  want[5] -= 0.5 * 0.2 * 6;
  check_close(update_of(decayed, gradient), want);
  CHECK(decayed.regularization_score() == 0);
}

TEST_CASE("weight_decay takes from weights and biases after the updater") {
  Network network = compile(tiny(R"(, "regularization": {"weight_decay": 0.2,
                                           "weight_decay_bias": 0.4},
          "gradient_normalization": "clip_elementwise",
          "gradient_threshold": 1,
          "updater": {"type": "nesterov", "momentum": 0.5, "learning_rate":
            {"schedule": "exponential", "initial": 0.5, "decay": 0.5}})"),
                            4);
  assign(network, network.parameters(), {4, -8, 2, 1, 1});
  check_close(update_of(network, {7, 1, 1, 1, 1}, {1, 0, 0}),
              {1.5 * 0.25 + 0.25 * 0.2 * 4, 1.5 * 0.25 - 0.25 * 0.2 * 8,
               1.5 * 0.25 + 0.25 * 0.4 * 2, 1.5 * 0.25 + 0.25 * 0.2,
               1.5 * 0.25 + 0.25 * 0.4});
  CHECK(network.regularization_score() == 0);
}

TEST_CASE("adamw's decay adds to that of regularization") {
  Network network = compile(tiny(R"(, "regularization": {"weight_decay": 0.3},
          "updater": {"type": "adamw", "weight_decay": 0.2})"),
                            4);
  assign(network, network.parameters(), {4, 0, 0, 0, 0});
  Network plain = compile(tiny(R"(, "updater": {"type": "adam"})"), 4);
  auto want = update_of(plain, {1, 1, 1, 1, 1});
  want[0] += 0.001 * 0.5 * 4;
  check_close(update_of(network, {1, 1, 1, 1, 1}), want);
}

TEST_CASE("a momentum follows its schedule") {
  // v: -0.1; 0.5 * -0.1 + 0.2 = 0.15; 0.9 * 0.15 - 0.05 = 0.085.
  check_close(three_updates(R"({"type": "nesterov", "learning_rate": 0.1,
                        "momentum": {"schedule": "map",
                                     "values": {"0": 0.5, "2": 0.9}}})"),
              {1.5 * 0.1, -0.05 - 1.5 * 0.15, 0.9 * 0.15 - 1.9 * 0.085});
}

TEST_CASE("schedules move the learning rate") {
  const std::string sgd = R"({"type": "sgd", "learning_rate": )";
  check_close(three_updates(sgd + R"({"schedule": "exponential",
                                      "initial": 1, "decay": 0.5}})"),
              {1, -1, 0.125});
  check_close(three_updates(sgd + R"({"schedule": "step", "initial": 1,
                                "decay": 0.1, "every": 2, "by": "epoch"}})"),
              {1, -2, 0.05});
  check_close(three_updates(sgd + R"({"schedule": "polynomial",
                                      "initial": 1, "limit": 2}})"),
              {1, -1, 0});
}

TEST_CASE("state is reset to its start") {
  Network network = compile(
      tiny(R"(, "updater": {"type": "adagrad", "learning_rate": 1})"), 4);
  const auto first = update_of(network, {1, 1, 1, 1, 1});
  const auto second = update_of(network, {1, 1, 1, 1, 1});
  CHECK(second[0] < 0.8 * first[0]);
  network.reset_updater_state();
  check_close(update_of(network, {1, 1, 1, 1, 1}), first, 0);
}

TEST_CASE("adam's correction counts from where its state was afresh") {
  const std::string adam =
      R"(, "updater": {"type": "adam", "learning_rate": 1})";
  Network one = compile(tiny(adam), 4), late = compile(tiny(adam), 4);
  for (std::int64_t i = 0; i < 3; ++i) {
    Position at, later;
    at.iteration = i;
    later.iteration = 1000 + i;
    later.updater_reset_at = 1000;
    check_close(update_of(late, {1, 2, 3, 4, 5}, later),
                update_of(one, {1, 2, 3, 4, 5}, at), 0);
  }
}

TEST_CASE("pieces of a long vector are updated alike on any number of lanes") {
  // 120 * 300 weights: several pieces, with a state of two components and a
  // norm over all of them.
  const NetworkConfig config =
      sequence("[300]", R"({"type": "dense", "units": 120},
          {"type": "output", "units": 3, "loss": "mean_squared_error"})",
               R"(, "updater": {"type": "adam"}, "regularization": {"l2": 0.1},
          "gradient_normalization": "clip_l2_per_layer")");
  std::vector<double> gradient(120 * 300 + 120 + 360 + 3);
  Philox random(1, 2);
  for (double& g : gradient) g = random.normal();
  Network one = compile(config, 4);
  const auto want = update_of(one, gradient);
  const auto want_state = values(one, one.updater_state());
  for (const int lanes : {2, 3, 7}) {
    Network network = compile(config, 4);
    check_close(update_of(network, gradient, {}, lanes), want, 0);
    check_close(values(network, network.updater_state()), want_state, 0);
  }
}

TEST_CASE("an update applied is the update computed") {
  const NetworkConfig config =
      tiny(R"(, "updater": {"type": "nesterov", "learning_rate": 0.1},
          "regularization": {"l1": 0.1, "l2": 0.2},
          "gradient_normalization": "renormalize_l2_per_layer")");
  Network computed = compile(config, 4), applied = compile(config, 4);
  const std::vector<double> gradient = {2, 3, 6, 0.3, -0.4};
  for (int i = 0; i < 3; ++i) {
    auto want = values(computed, computed.parameters());
    const auto update = update_of(computed, gradient, {i, 0, 0});
    for (std::size_t k = 0; k < want.size(); ++k) want[k] -= update[k];
    assign(computed, computed.parameters(), want);
    CHECK(update_of(applied, gradient, {i, 0, 0}, 2,
                    device::UpdateTo::kParameters) == gradient);
    check_close(values(applied, applied.parameters()), want, 0);
    check_close(values(applied, applied.updater_state()),
                values(computed, computed.updater_state()), 0);
  }
}

TEST_CASE(
    "lanes' gradients are summed in order, and what is not finite shows") {
  const std::string normalization =
      GENERATE(as<std::string>{}, "none", "clip_l2_per_layer");
  const NetworkConfig config =
      tiny(R"(, "gradient_normalization": ")" + normalization + "\"");
  Network one = compile(config, 4), two = compile(config, 4),
          three = compile(config, 4);
  const Layout layout = layout_of(config);
  Memory memory(one.device());
  UpdatePlan plan(config, layout, plan_of(config, layout, true).gradients, 2,
                  memory);
  LaneTeam team(2);
  const tensor::View found[] = {one.update(), two.update(), three.update()};
  const auto gather = [&](double last) {
    assign(one, one.update(), {1, 2, 3, 4, 5});
    assign(two, two.update(), {1e16, 0, 0, 0, 1});
    assign(three, three.update(), {-1e16, 0, 0, 0, last});
    team.run([&](int lane) {
      plan.gather(lane, one.device(), found, 0, layout.parameter_count);
    });
    plan.judge(one.device(), {}, 0);
    return plan.found(one.device()).gradient_finite;
  };
  CHECK(gather(-1));
  CHECK(values(one, one.update()) ==
        std::vector<double>{1 + 1e16 - 1e16, 2, 3, 4, 5});
  const std::vector<double> before = values(one, one.parameters());
  for (const double bad : {std::nan(""), double{INFINITY}}) {
    CHECK_FALSE(gather(bad));
    // And goes nowhere.
    team.run([&](int lane) {
      plan.step(lane, one.device(), {}, device::UpdateTo::kParameters, true, {},
                one.update(), one.parameters(), one.updater_state());
    });
    plan.judge_written(one.device());
    CHECK_FALSE(plan.found(one.device()).update_finite);
    CHECK(values(one, one.parameters()) == before);
  }
}

}  // namespace
}  // namespace dl::nn::update_test
