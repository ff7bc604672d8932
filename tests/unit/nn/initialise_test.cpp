// Weight initialisation: distributions against their formulas, and numbers
// that must never change.

#include "libcore/nn/initialise.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace {

using dl::nn::Training;
using dl::nn::WeightInit;

std::vector<float> draw(WeightInit init, double value = 0,
                        std::size_t count = 40000, std::uint64_t seed = 1,
                        std::uint64_t index = 0) {
  Training training;
  training.weight_init = init;
  training.weight_value = value;
  std::vector<float> weights(count, -7);
  dl::nn::draw_weights(weights, training, 50, 150, seed, index);
  return weights;
}

double mean(const std::vector<float>& values) {
  double sum = 0;
  for (const float v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double variance(const std::vector<float>& values) {
  const double m = mean(values);
  double sum = 0;
  for (const float v : values) sum += (v - m) * (v - m);
  return sum / static_cast<double>(values.size());
}

// The share of values within one standard deviation: 0.683 if normal, 0.577 if
// uniform.
double within_deviation(const std::vector<float>& values) {
  const double deviation = std::sqrt(variance(values));
  return static_cast<double>(
             std::count_if(values.begin(), values.end(),
                           [&](float v) { return std::abs(v) <= deviation; })) /
         static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("normal distributions have the variance of their formula") {
  // 40000 draws: the variance is known to about 0.7 % (one sigma).
  const auto check = [](WeightInit init, double value, double wanted) {
    const auto weights = draw(init, value);
    CHECK(variance(weights) == Approx(wanted).epsilon(0.03));
    CHECK(std::abs(mean(weights)) < 4 * std::sqrt(wanted / 40000));
    CHECK(within_deviation(weights) == Approx(0.6827).margin(0.01));
  };
  check(WeightInit::kXavier, 0, 2.0 / 200);
  check(WeightInit::kHe, 0, 2.0 / 50);
  check(WeightInit::kLecun, 0, 1.0 / 50);
  check(WeightInit::kNormal, 0, 1.0 / 50);
  check(WeightInit::kNormal, 0.3, 0.09);
}

TEST_CASE("xavier_uniform fills its interval evenly") {
  const double limit = std::sqrt(6.0 / 200);
  const auto weights = draw(WeightInit::kXavierUniform);
  const auto [low, high] = std::minmax_element(weights.begin(), weights.end());
  CHECK(*low >= static_cast<float>(-limit));
  CHECK(*high <= static_cast<float>(limit));
  CHECK(*low < -0.999 * limit);
  CHECK(*high > 0.999 * limit);
  CHECK(variance(weights) == Approx(limit * limit / 3).epsilon(0.03));
  CHECK(within_deviation(weights) == Approx(0.5774).margin(0.01));
}

TEST_CASE("zero and constant") {
  CHECK(draw(WeightInit::kZero, 0, 3) == std::vector<float>{0, 0, 0});
  CHECK(draw(WeightInit::kConstant, 0.1, 2) == std::vector<float>{0.1f, 0.1f});
}

TEST_CASE("tensors and seeds draw from streams of their own") {
  const auto weights = draw(WeightInit::kXavier, 0, 100);
  CHECK(draw(WeightInit::kXavier, 0, 100) == weights);
  CHECK(draw(WeightInit::kXavier, 0, 100, 2, 0) != weights);
  CHECK(draw(WeightInit::kXavier, 0, 100, 1, 1) != weights);
}

TEST_CASE("the numbers of a seed never change") {
  const auto weights = draw(WeightInit::kXavier, 0, 3, 123, 4);
  CHECK(weights[0] == -0x1.444b72p-4f);
  CHECK(weights[1] == -0x1.fff766p-5f);
  CHECK(weights[2] == 0x1.3e481ep-7f);
}

TEST_CASE("a network starts with each tensor as its role wants it") {
  const auto config = dl::nn::parse_network(
      R"({"input": {"shape": [6]}, "seed": 5, "bias_init": 0.25,
          "updater": {"type": "adagrad", "epsilon": 0.5},
          "layers": [{"type": "dense", "units": 4},
                     {"type": "batch_norm",
                      "updater": {"type": "adam"}},
                     {"type": "output", "units": 2, "weight_init": "zero",
                      "bias_init": -1, "loss": "mean_squared_error"}]})",
      "x");
  const auto layout = dl::nn::layout_of(config);
  const auto parameters = initial_parameters(config, layout);
  const auto p = parameters.as<float>();
  REQUIRE(p.size() == 24 + 4 + 4 + 4 + 8 + 2);
  std::vector<float> first(24);
  dl::nn::draw_weights(first, config.layers[0].training, 6, 4, 5, 0);
  CHECK(std::equal(first.begin(), first.end(), p.begin()));
  const auto all = [&](std::size_t begin, std::size_t end, float value) {
    return std::all_of(p.begin() + begin, p.begin() + end,
                       [&](float x) { return x == value; });
  };
  CHECK(all(24, 28, 0.25f));  // bias
  CHECK(all(28, 32, 1.0f));   // gamma
  CHECK(all(32, 36, 0.0f));   // beta
  CHECK(all(36, 44, 0.0f));   // weights of the output
  CHECK(all(44, 46, -1.0f));  // and its bias

  const auto statistics = initial_statistics(layout);
  CHECK(std::vector<float>(statistics.as<float>().begin(),
                           statistics.as<float>().end()) ==
        std::vector<float>{0, 0, 0, 0, 1, 1, 1, 1});

  const auto state = initial_updater_state(layout);
  const auto s = state.as<float>();
  REQUIRE(s.size() == 28 + 16 + 10);  // adagrad, adam twice, adagrad
  CHECK(s[0] == 0.5f);
  CHECK(s[27] == 0.5f);
  CHECK(s[28] == 0.0f);
  CHECK(s[43] == 0.0f);
  CHECK(s[44] == 0.5f);
}
