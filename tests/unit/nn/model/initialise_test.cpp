// Weight initialization: distributions against their formulas, and numbers
// that must never change.

#include "libcore/nn/model/initialise.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace dl::nn::initialise_test {

namespace {

TensorSpec spec(dl::tensor::Shape shape, std::int64_t fan_in,
                std::int64_t fan_out) {
  return {
      .name = "weight", .shape = shape, .fan_in = fan_in, .fan_out = fan_out};
}

std::vector<float> draw_like(const WeightStart& start, const TensorSpec& tensor,
                             std::uint64_t seed = 1) {
  std::vector<float> weights(static_cast<std::size_t>(tensor.shape.elements()),
                             -7);
  dl::nn::draw_weights(weights, start, tensor, seed, 0);
  return weights;
}

std::vector<float> draw(WeightInit init, double value = 0,
                        std::size_t count = 40000, std::uint64_t seed = 1,
                        std::uint64_t index = 0) {
  std::vector<float> weights(count, -7);
  dl::nn::draw_weights(weights, {.kind = init, .value = value},
                       spec({static_cast<std::int64_t>(count)}, 50, 150), seed,
                       index);
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

void check_uniform(const std::vector<float>& weights, double limit) {
  const auto [low, high] = std::minmax_element(weights.begin(), weights.end());
  CHECK(*low >= static_cast<float>(-limit));
  CHECK(*high <= static_cast<float>(limit));
  CHECK(*low < -0.999 * limit);
  CHECK(*high > 0.999 * limit);
  CHECK(variance(weights) == Approx(limit * limit / 3).epsilon(0.03));
  CHECK(within_deviation(weights) == Approx(0.5774).margin(0.01));
}

}  // namespace

TEST_CASE("large tensors are drawn by many threads, and are what one draws") {
  for (const auto init : {WeightInit::kXavier, WeightInit::kHeUniform}) {
    const auto large = draw(init, 0, 1'500'001);
    const auto small = draw(init, 0, 1001);
    CHECK(std::equal(small.begin(), small.end(), large.begin()));
    const auto longer = draw(init, 0, 3'000'002);
    CHECK(std::equal(large.begin(), large.end(), longer.begin()));
  }
}

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
  check_uniform(draw(WeightInit::kXavierUniform), std::sqrt(6.0 / 200));
}

TEST_CASE("the other uniform distributions fill theirs") {
  check_uniform(draw(WeightInit::kHeUniform), std::sqrt(6.0 / 50));
  check_uniform(draw(WeightInit::kLecunUniform), std::sqrt(3.0 / 50));
  check_uniform(draw(WeightInit::kUniform), std::sqrt(1.0 / 50));
  check_uniform(draw(WeightInit::kUniform, 0.3), 0.3);
}

TEST_CASE("a truncated normal distribution ends at two deviations") {
  for (const double deviation : {0.0, 0.3}) {
    const double wanted = deviation > 0 ? deviation : std::sqrt(1.0 / 50);
    const auto weights = draw(WeightInit::kTruncatedNormal, deviation);
    const auto [low, high] =
        std::minmax_element(weights.begin(), weights.end());
    CHECK(*low >= static_cast<float>(-2 * wanted));
    CHECK(*high <= static_cast<float>(2 * wanted));
    CHECK(*low < -1.9 * wanted);
    CHECK(*high > 1.9 * wanted);
    CHECK(variance(weights) ==
          Approx(0.7737 * wanted * wanted).epsilon(0.03));  // scipy's truncnorm
  }
}

TEST_CASE("variance scaling gives the variance, whatever the distribution") {
  const TensorSpec tensor = spec({40000}, 50, 150);
  const auto check = [&](FanMode mode, ScaledDistribution distribution,
                         double wanted) {
    const auto weights = draw_like({.kind = WeightInit::kVarianceScaling,
                                    .scale = 2,
                                    .mode = mode,
                                    .distribution = distribution},
                                   tensor);
    CHECK(variance(weights) == Approx(wanted).epsilon(0.03));
    const auto [low, high] =
        std::minmax_element(weights.begin(), weights.end());
    if (distribution == ScaledDistribution::kUniform)
      CHECK(*high <= static_cast<float>(std::sqrt(3 * wanted)));
    if (distribution == ScaledDistribution::kTruncatedNormal)
      CHECK(*high < 2.28 * std::sqrt(wanted));
    if (distribution == ScaledDistribution::kNormal)
      CHECK(*high > 2.5 * std::sqrt(wanted));
  };
  using D = ScaledDistribution;
  for (const D d : {D::kTruncatedNormal, D::kNormal, D::kUniform}) {
    check(FanMode::kIn, d, 2.0 / 50);
    check(FanMode::kOut, d, 2.0 / 150);
    check(FanMode::kAverage, d, 2.0 / 100);
  }
}

TEST_CASE("the logarithm of a log-normal distribution is normal") {
  auto weights =
      draw_like({.kind = WeightInit::kLogNormal, .value = 0.5, .mean = -1},
                spec({40000}, 50, 150));
  for (float& w : weights) w = std::log(w);
  CHECK(mean(weights) == Approx(-1).margin(0.01));
  CHECK(variance(weights) == Approx(0.25).epsilon(0.03));
  for (float& w : weights) w += 1;
  CHECK(within_deviation(weights) == Approx(0.6827).margin(0.01));
}

TEST_CASE("orthogonal weights have orthonormal rows, or columns") {
  struct Case {
    dl::tensor::Shape shape;
    std::size_t rows, columns;
  };
  for (const Case& c :
       {Case{{20, 20}, 20, 20}, Case{{5, 33}, 5, 33}, Case{{33, 5}, 33, 5},
        Case{{8, 3, 3, 4}, 8, 36}, Case{{1, 7}, 1, 7}}) {
    CAPTURE(c.rows, c.columns);
    const auto w = draw_like({.kind = WeightInit::kOrthogonal, .value = 3},
                             spec(c.shape, 1, 1));
    const bool by_row = c.rows <= c.columns;
    const std::size_t count = by_row ? c.rows : c.columns;
    const std::size_t length = by_row ? c.columns : c.rows;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double product = 0;
        for (std::size_t k = 0; k < length; ++k)
          product += by_row ? w[i * c.columns + k] * w[j * c.columns + k]
                            : w[k * c.columns + i] * w[k * c.columns + j];
        CHECK(product == Approx(i == j ? 9 : 0).margin(1e-5));
      }
  }
  // All directions are alike: an entry is as often positive as negative.
  const auto many = draw_like({.kind = WeightInit::kOrthogonal, .value = 1},
                              spec({100, 100}, 1, 1));
  CHECK(std::abs(mean(many)) < 4 * 0.1 / 100);
}

TEST_CASE("identity gives back what comes in") {
  const WeightStart identity{.kind = WeightInit::kIdentity};
  CHECK(draw_like(identity, spec({2, 2}, 1, 1)) ==
        std::vector<float>{1, 0, 0, 1});
  const auto window = draw_like(identity, spec({2, 3, 4, 2}, 1, 1));
  for (std::size_t i = 0; i < window.size(); ++i) {
    CAPTURE(i);  // row 1 of 3, column 1 of 4
    const bool one = i == (1 * 4 + 1) * 2 || i == 24 + (1 * 4 + 1) * 2 + 1;
    CHECK(window[i] == (one ? 1.0f : 0.0f));
  }
}

TEST_CASE("identity refuses a tensor that is not square") {
  const auto parse = [](const std::string& units) {
    return dl::nn::parse_network(
        R"({"input": {"shape": [6]}, "layers": [
            {"type": "dense", "units": )" +
            units + R"(, "weight_init": "identity"},
            {"type": "output", "units": 2, "loss": "mean_squared_error"}]})",
        "'x'");
  };
  CHECK(parse("6").layers[0].training.weight_init.kind ==
        WeightInit::kIdentity);
  CHECK_THROWS_WITH(parse("4"),
                    "'x': dense1/weight: weight_init identity wants as many "
                    "outputs as inputs, the tensor is [4, 6]");
}

TEST_CASE("zero, ones and constant") {
  CHECK(draw(WeightInit::kOnes, 0, 2) == std::vector<float>{1, 1});
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
  dl::nn::draw_weights(first, {}, spec({4, 6}, 6, 4), 5, 0);
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

}  // namespace dl::nn::initialise_test
