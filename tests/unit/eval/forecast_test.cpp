// Errors of forecasts beside those of the naive ones.

#include "libcore/eval/forecast.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "tests/unit/eval/make.h"

namespace dl::eval::forecast_test {
namespace {

Subject subject() {
  return {.outputs = 2, .names = {"v+1", "v+2"}, .probabilities = false};
}

// Windows of three rows of 'v' and another column, two rows ahead; season 2.
data::Metadata known() {
  data::Metadata metadata;
  metadata.columns = {"other", "v"};
  metadata.schema["features"] = {tensor::DType::kF32, {3, 2}};
  metadata.recipe = parse_json(
      R"({"series": {"window": 3, "horizon": 2, "season": 2, "naive": [4]},
          "tensors": {"labels": {"type": "number", "from": ["v"]}}})",
      "recipe", Code::kBug);
  return metadata;
}

data::DataSet windows() {
  data::DataSet set;
  tensor::Tensor features(tensor::DType::kF32, {2, 3, 2});
  const std::vector<float> values = {9, 1, 9, 2, 9, 3, 9, 5, 9, 7, 9, 6};
  std::ranges::copy(values, features.as<float>().begin());
  set.tensors.emplace("features", std::move(features));
  return set;
}

std::unique_ptr<Evaluation> evaluated() {
  auto made =
      make_evaluation("forecast:" + forecast_settings(known(), 2), subject());
  compare_naive(dynamic_cast<Forecast&>(*made), known(), windows(), 2);
  // Naive: 3 3, 6 6; of the season before: 2 3, 7 6.
  made->add(make_tensor<float>({4, 0, 8, 10}, 2),
            make_tensor<float>({2, 0, 8, 6}, 2), nullptr);
  return made;
}

}  // namespace

TEST_CASE("forecasts are compared with the naive ones") {
  const auto made = evaluated();
  CHECK(made->metric("mae/v+1") == 1);
  CHECK(made->metric("rmse/v+1") == Approx(std::sqrt(2)));
  CHECK(made->metric("mase/v+1") == 0.25);
  CHECK(made->metric("smape/v+1") == Approx(200.0 * 2 / 6 / 2));
  CHECK(made->metric("smape/v+2") == Approx(200.0 * 4 / 16 / 2));
  CHECK(made->metric("naive_mae/v+1") == 1.5);
  CHECK(made->metric("naive_mae/v+2") == 1.5);
  CHECK(made->metric("seasonal_mae/v+1") == 0.5);
  CHECK(made->metric("seasonal_mae/v+2") == 1.5);
  CHECK(made->metric("mae") == 1.5);
  CHECK(made->metric("seasonal_mase") == 0.25);
  CHECK(made->metric("examples") == 2);
  CHECK(!higher_is_better("mase"));
  CHECK(!higher_is_better("seasonal_smape/v+1"));
}

TEST_CASE("errors are known for each step") {
  const Json horizon = evaluated()->to_json().at("metrics").at("horizon");
  REQUIRE(horizon.size() == 2);
  CHECK(horizon[0]["step"] == 1);
  CHECK(horizon[0]["mae"] == 1);
  CHECK(horizon[1]["mae"] == 2);
  CHECK(horizon[1]["rmse"] == Approx(std::sqrt(8)));
  CHECK(horizon[1]["naive_mae"] == 1.5);
  CHECK(horizon[0]["seasonal_mae"] == 0.5);
  std::ostringstream out;
  evaluated()->print(out);
  CHECK_THAT(out.str(), Catch::Contains("1 column, 2 steps ahead"));
  // Both columns of one step.
  const auto wide = make_evaluation("forecast:targets=2", subject());
  wide->add(make_tensor<float>({4, 0}, 2), make_tensor<float>({2, 0}, 2),
            nullptr);
  CHECK(!wide->to_json().at("metrics").contains("horizon"));
  CHECK_THROWS_WITH(make_evaluation("forecast:targets=3", subject()),
                    Catch::Contains("want a divisor of 2 outputs"));
}

TEST_CASE("forecasts merge, and read back what they wrote") {
  auto twice = evaluated();
  const Json json = evaluated()->to_json();
  const auto again = evaluation_from_json(JsonView(json, Code::kData));
  CHECK(again->to_json() == json);
  twice->merge(*again);
  CHECK(twice->metric("examples") == 4);
  CHECK(twice->metric("naive_mae/v+1") == 1.5);
}

TEST_CASE("a naive forecast may be unknown") {
  data::Metadata longer = known();
  longer.recipe["series"]["season"] = 5;  // longer than the window
  auto made =
      make_evaluation("forecast:" + forecast_settings(longer, 2), subject());
  auto& forecast = dynamic_cast<Forecast&>(*made);
  const auto add = [&] {
    made->add(make_tensor<float>({4, 0, 8, 10}, 2),
              make_tensor<float>({2, 0, 8, 6}, 2), nullptr);
  };
  compare_naive(forecast, longer, windows(), 2);
  add();
  CHECK(std::isnan(made->metric("seasonal_mae/v+1")));
  CHECK(made->metric("naive_mae/v+1") == 1.5);
  longer.columns = {"other", "w"};  // the target is no feature
  compare_naive(forecast, longer, windows(), 2);
  add();
  CHECK(made->metric("naive_mae/v+1") == 1.5);
  CHECK(made->metric("examples") == 4);
  // Without the training data's error there is no mase.
  longer.recipe["series"].erase("naive");
  made = make_evaluation("forecast:" + forecast_settings(longer, 2), subject());
  add();
  CHECK(std::isnan(made->metric("mase")));
}

TEST_CASE("a stream may know errors of naive forecasts that windows do not") {
  data::Metadata longer = known();
  longer.recipe["series"]["season"] = 5;  // longer than the window
  const auto evaluate = [&](const Json& baseline) {
    auto made =
        make_evaluation("forecast:" + forecast_settings(longer, 2), subject());
    auto& forecast = dynamic_cast<Forecast&>(*made);
    data::Metadata stream = longer;
    stream.recipe["series"]["baseline"] = baseline;
    take_baseline(forecast, stream);
    compare_naive(forecast, longer, windows(), 2);
    made->add(make_tensor<float>({4, 0, 8, 10}, 2),
              make_tensor<float>({2, 0, 8, 6}, 2), nullptr);
    return made;
  };
  const auto made =
      evaluate({9, 9, 9, 2, 5, 30, 5, 34, 9, 9, 9, -1, -1, -1, 3, 18});
  CHECK(made->metric("naive_mae/v+1") == 1.5);  // of the window
  CHECK(made->metric("seasonal_mae/v+1") == 2);
  CHECK(made->metric("seasonal_rmse/v+1") == Approx(std::sqrt(5)));
  CHECK(made->metric("seasonal_smape/v+1") == 30);
  CHECK(std::isnan(made->metric("seasonal_mae/v+2")));
  CHECK(made->metric("r2/v+1") == Approx(1 - 2.0 / 9));
  CHECK(std::isnan(evaluate({1, 2})->metric("seasonal_mae/v+1")));
  CHECK_THROWS_AS(evaluate("much"), Error);
  CHECK(std::isnan(evaluate(Json(std::vector<double>(16, 1e200)))
                       ->metric("seasonal_mae/v+1")));
  // It alone knows the numbers that differences are from.
  longer.recipe["series"]["difference"] = 1;
  const auto levels =
      evaluate({9, 90, 9, 2, 5, 30, 5, 34, 9, 9, 9, 3, 9, 1, 3, 18});
  CHECK(levels->metric("r2/v+1") == Approx(1 - 2.0 / 9));
  CHECK(std::isnan(evaluate({1})->metric("r2/v+1")));
  CHECK(predicts_differences(longer));
  CHECK(!predicts_differences(known()));
}

TEST_CASE("forecasts are of series of numbers") {
  const auto fault = [](const Json& recipe) {
    data::Metadata metadata;
    metadata.recipe = recipe;
    CHECK(!is_forecast(metadata));
    CHECK_THROWS_WITH(forecast_settings(metadata, 1),
                      Catch::Contains("models of series of numbers"));
  };
  fault(nullptr);
  fault({{"tensors", Json::object()}});
  Json classes = known().recipe;
  classes["tensors"]["labels"]["type"] = "category";
  fault(classes);
  CHECK(is_forecast(known()));
}

}  // namespace dl::eval::forecast_test
