// binary, regression and calibration against values computed by hand.

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "libcore/eval/evaluation.h"
#include "tests/unit/eval/make.h"

namespace dl::eval::kinds_test {
namespace {

using Catch::Detail::Approx;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

TEST_CASE("binary: counts of each output") {
  auto e = make_evaluation("binary", {2, {"rain", "wind"}});
  e->add(make_tensor<float>({0.9F, 0.2F,  //
                             0.5F, 0.7F,  //
                             0.1F, 0.6F,  //
                             0.3F, 0.4F},
                            2),
         make_tensor<std::uint8_t>({1, 0, 0, 1, 0, 0, 1, 0}, 2), nullptr);
  // rain: tp 1, fp 1 (0.5 reaches the threshold), tn 1, fn 1.
  // wind: tp 1, fp 1, tn 2, fn 0.
  CHECK(e->metric("accuracy") == 5.0 / 8);
  CHECK(e->metric("accuracy/rain") == 0.5);
  CHECK(e->metric("accuracy/wind") == 0.75);
  CHECK(e->metric("precision/wind") == 0.5);
  CHECK(e->metric("recall/wind") == 1);
  CHECK(e->metric("f1/wind") == 2.0 / 3);
  CHECK(e->metric("mcc/rain") == 0);
  CHECK(e->metric("mcc/wind") == Approx(2 / std::sqrt(2.0 * 1 * 3 * 2)));
  CHECK(e->metric("precision_macro") == 0.5);
  CHECK(e->metric("recall_macro") == 0.75);
  CHECK(e->metric("precision_micro") == 0.5);
  CHECK(e->metric("recall_micro") == 2.0 / 3);
  CHECK(e->metric("exact_match") == 0.25);
  const double loss =
      -(std::log(0.9F) + std::log(1 - 0.2F) + std::log(0.5F) + std::log(0.7F) +
        std::log(1 - 0.1F) + std::log(1 - 0.6F) + std::log(0.3F) +
        std::log(1 - 0.4F)) /
      4;
  CHECK(e->metric("log_loss") == Approx(loss));
  std::ostringstream out;
  e->print(out);
  CHECK(out.str().find("wind      0.7500     0.5000  1.0000  0.6667  0.5774  "
                       " 1   1   2   0\n") != std::string::npos);
}

TEST_CASE("pixels of images count as examples") {
  auto pixels = make_evaluation("regression", {2, {}});
  auto rows = make_evaluation("regression", {2, {}});
  const Tensor y = make_tensor<float>({1, 2, 3, 4, 5, 6, 7, 9}, 2);
  const Tensor t = make_tensor<float>({1, 1, 3, 4, 5, 5, 2, 2}, 2);
  Tensor mask(DType::kU8, {4});
  for (const std::size_t i : {0, 1, 3}) mask.as<std::uint8_t>()[i] = 1;
  rows->add(y, t, &mask);
  const auto shaped = [](Tensor tensor, Shape shape) {
    tensor.reshape(shape);
    return tensor;
  };
  const Tensor wide = shaped(mask, {1, 2, 2});
  pixels->add(shaped(y, {1, 2, 2, 2}), shaped(t, {1, 2, 2, 2}), &wide);
  CHECK(pixels->to_json() == rows->to_json());
}

TEST_CASE("steps of sequences count as examples") {
  auto steps = make_evaluation("binary", {1, {}});
  auto rows = make_evaluation("binary", {1, {}});
  const auto y = make_tensor<float>({0.9F, 0.2F, 0.5F, 0.7F, 0.1F, 0.6F}, 1);
  const auto labels = make_tensor<std::uint8_t>({1, 0, 0, 1, 0, 0});
  const auto mask = make_tensor<std::uint8_t>({1, 1, 0, 1, 0, 1});
  rows->add(y, labels, &mask);
  const auto shaped = [](tensor::Tensor t, tensor::Shape shape) {
    t.reshape(shape);
    return t;
  };
  const auto shaped_mask = shaped(mask, {2, 3});
  steps->add(shaped(y, {2, 3, 1}), shaped(labels, {2, 3}), &shaped_mask);
  CHECK(steps->to_json() == rows->to_json());
  // A mask of examples; messages count examples.
  const auto first = make_tensor<std::uint8_t>({1, 0});
  auto half = make_evaluation("binary", {1, {}});
  half->add(shaped(y, {2, 3, 1}), shaped(labels, {2, 3, 1}), &first);
  CHECK(half->metric("accuracy") == 2.0 / 3);
  CHECK(error_of([&] {
          half->add(shaped(y, {2, 3, 1}), labels, nullptr);
        }) == "65: labels are [6], want [2, 3] or [2, 3, 1]");
  CHECK(error_of([&] {
          half->add(shaped(y, {2, 3, 1}), shaped(labels, {2, 3}), &mask);
        }) == "65: the labels' mask is [6], want [2, 3]");
  CHECK(error_of([&] {
          half->add(
              shaped(y, {2, 3, 1}),
              shaped(make_tensor<std::uint8_t>({1, 0, 0, 1, 7, 0}), {2, 3}),
              nullptr);
        }) == "65: the label of example 3 is 7, want a class 0..1");
}

TEST_CASE("binary: the threshold and a single output") {
  auto e = make_evaluation("binary:threshold=0.25", {1, {"ham", "spam"}});
  e->add(make_tensor<float>({0.3F, 0.2F}, 1), make_tensor<std::int64_t>({1, 0}),
         nullptr);
  CHECK(e->metric("accuracy/spam") == 1);
  CHECK(error_of([&] {
          e->add(make_tensor<float>({0.3F}, 1), make_tensor<std::int64_t>({2}),
                 nullptr);
        }) == "65: the label of example 2 is 2, want a class 0..1");
}

TEST_CASE("regression by hand") {
  auto e = make_evaluation("regression", {2, {"depth", "speed"}});
  e->add(make_tensor<float>({2.5F, 1,  //
                             0, 2,     //
                             2, 3,     //
                             8, 4},
                            2),
         make_tensor<float>({3, 10,      //
                             -0.5F, 20,  //
                             2, 30,      //
                             7, 40},
                            2),
         nullptr);
  CHECK(e->metric("mse/depth") == 0.375);
  CHECK(e->metric("mae/depth") == 0.5);
  CHECK(e->metric("rmse/depth") == std::sqrt(0.375));
  // Targets 3, -0.5, 2, 7: mean 2.875, squares about it 29.1875.
  CHECK(e->metric("r2/depth") == Approx(1 - 1.5 / 29.1875));
  CHECK(e->metric("correlation/speed") == 1);
  CHECK(e->metric("mse/speed") == (81.0 + 324 + 729 + 1296) / 4);
  CHECK(e->metric("mse") == (0.375 + 607.5) / 2);
  CHECK(e->metric("rmse") == Approx((std::sqrt(0.375) + std::sqrt(607.5)) / 2));
  std::ostringstream out;
  e->print(out);
  CHECK(out.str().find("depth     0.3750   0.6124   0.5000   0.9486") !=
        std::string::npos);
}

TEST_CASE("regression with a large mean") {
  // In doubles, n sum(t^2) - sum(t)^2 would be noise here.
  auto e = make_evaluation("regression", {1, {}});
  std::vector<float> y, t;
  for (int i = 0; i < 1000; ++i) {
    t.push_back(1e7F + static_cast<float>(i % 2));
    y.push_back(1e7F + static_cast<float>(i % 2));
  }
  y[0] += 1;
  e->add(make_tensor(y, 1), make_tensor(t), nullptr);
  CHECK(e->metric("mse") == 1.0 / 1000);
  CHECK(e->metric("r2") == Approx(1 - 1.0 / 250).epsilon(1e-14));
  // By hand: y has 501 ones in 1000, t 500, both 500.
  CHECK(e->metric("correlation") ==
        Approx((1000.0 * 500 - 501.0 * 500) /
               std::sqrt((1000.0 * 501 - 501.0 * 501) *
                         (1000.0 * 500 - 500.0 * 500)))
            .epsilon(1e-14));
}

TEST_CASE("names are displayed without control characters") {
  auto e = make_evaluation("regression", {2, {"\x1b[2J", "a\nb"}});
  e->add(make_tensor<float>({1, 2}, 2), make_tensor<float>({1, 2}, 2), nullptr);
  std::ostringstream out;
  e->print(out);
  CHECK(out.str().find("\\x1b[2J") != std::string::npos);
  CHECK(out.str().find("a\\nb") != std::string::npos);
  CHECK(out.str().find('\x1b') == std::string::npos);
}

// As floats these targets are one value, which was said to be met exactly.
TEST_CASE("regression of targets that floats do not hold") {
  auto e = make_evaluation("regression", {1, {}});
  e->add(make_tensor<float>({1e9F, 1e9F}, 1),
         make_tensor<double>({1e9 + 1.5, 1e9 - 0.5}), nullptr);
  CHECK(e->metric("mse") == (1.5 * 1.5 + 0.5 * 0.5) / 2);
  CHECK(e->metric("mae") == 1);
  CHECK(e->metric("r2") == 1 - 2.5 / 2);
}

TEST_CASE("regression where it is not defined") {
  auto e = make_evaluation("regression", {1, {}});
  CHECK(std::isnan(e->metric("mse")));
  CHECK(std::isnan(e->metric("r2")));
  e->add(make_tensor<float>({1, 2}, 1), make_tensor<float>({5, 5}), nullptr);
  CHECK(e->metric("mse") == 12.5);
  CHECK(std::isnan(e->metric("r2")));  // the targets do not vary
  CHECK(std::isnan(e->metric("correlation")));
  CHECK(e->to_json()["metrics"]["r2"].is_null());
  CHECK(e->to_json()["metrics"]["finite"] == false);
  CHECK(error_of([&] {
          e->add(make_tensor<float>({1}, 1), make_tensor<float>({NAN}),
                 nullptr);
        }) == "65: the label of example 2 is not finite");
  auto two = make_evaluation("regression", {2, {}});
  CHECK(error_of([&] {
          two->add(make_tensor<float>({1, 1}, 2), make_tensor<float>({1}),
                   nullptr);
        }) ==
        "65: the label of example 0 is a class, want 2 targets; "
        "--evaluate classification takes classes");
}

TEST_CASE("calibration by hand") {
  auto e = make_evaluation("calibration:bins=2", {2, {}});
  // Confidences 0.75 (right), 0.75 (wrong), 1 (right), 0.5 (right).
  e->add(make_tensor<float>({0.75F, 0.25F,  //
                             0.75F, 0.25F,  //
                             0, 1,          //
                             0.5F, 0.5F},
                            2),
         make_tensor<std::int32_t>({0, 1, 1, 0}), nullptr);
  // All four lie in the upper bin: mean 0.75, three of four right.
  CHECK(e->metric("ece") == 0);
  CHECK(e->metric("mce") == 0);
  // Output 0: upper bin 0.75, 0.75, 0.5 with two positives; lower bin 0, none.
  CHECK(e->metric("ece/0") == Approx(3.0 / 4 * 0));
  CHECK(e->metric("mean_probability/0") == 0.5);
  CHECK(e->metric("rate/0") == 0.5);
  // Output 1: lower 0.25, 0.25 (one positive), upper 1, 0.5 (one positive).
  CHECK(e->metric("ece/1") == Approx(0.5 * 0.25 + 0.5 * 0.25));
  CHECK(e->metric("ece_classwise") == Approx(0.125));
  CHECK(e->metric("brier") == (0.125 + 2 * 0.5625 + 0 + 0.5) / 4);
  const Json diagram = e->to_json()["metrics"]["reliability"];
  REQUIRE(diagram.size() == 1);
  CHECK(diagram[0] == Json({{"from", 0.5},
                            {"to", 1.0},
                            {"examples", 4},
                            {"mean_confidence", 0.75},
                            {"accuracy", 0.75}}));
  const Json output = e->to_json()["state"]["outputs"][1];
  CHECK(output["positives"][12] == 1);  // 0.25 of 50 bins
  CHECK(output["negatives"][12] == 1);
  CHECK(output["positives"][49] == 1);
  CHECK(error_of([&] {
          e->add(make_tensor<float>({1.5F, 0}, 2),
                 make_tensor<std::int32_t>({0}), nullptr);
        }) ==
        "65: the model's output for example 4 is 1.5, no probability "
        "to be calibrated");
  CHECK(e->metric("examples") == 4);
}

TEST_CASE("calibration of a single output") {
  auto e = make_evaluation("calibration", {1, {}});
  // Says no with 0.75, rightly; yes with 0.75, wrongly.
  e->add(make_tensor<float>({0.25F, 0.75F}, 1),
         make_tensor<std::int32_t>({0, 0}), nullptr);
  CHECK(e->metric("ece") == 0.25);
  CHECK(e->metric("brier") == (0.0625 + 0.5625) / 2);
}

TEST_CASE("kinds, settings and metrics that are not there") {
  const Subject s = {2, {}};
  const auto kind = [&](const std::string& name) {
    return error_of([&] { make_evaluation(name, s); });
  };
  CHECK(kind("clasification") ==
        "64: there is no evaluation 'clasification'; did you mean "
        "'classification'?");
  CHECK(kind("?") ==
        "64: there is no evaluation '?' (want classification, binary, roc, "
        "regression, calibration or forecast)");
  CHECK(kind("roc:step=3") == "64: evaluation 'roc' has no setting 'step'");
  CHECK(kind("roc:steps") == "64: 'steps': want SETTING=NUMBER");
  CHECK(kind("roc:steps=x") == "64: 'steps=x': want a number");
  CHECK(kind("roc:steps=1,steps=2") == "64: 'steps=2': given twice");
  CHECK(kind("roc:steps=1.5") ==
        "64: setting 'steps': want an integer, got 1.5");
  CHECK(kind("classification:top=3") == "64: setting 'top': want 1..2, got 3");
  CHECK(error_of([&] {
          make_evaluation("roc", {0, {}});
        }).substr(0, 3) == "64:");
  CHECK(error_of([&] {
          make_evaluation("roc", {2, {"a", "b", "c"}});
        }) == "64: 3 names for 2 outputs");

  std::vector<std::unique_ptr<Evaluation>> all;
  all.push_back(make_evaluation("classification", s));
  all.push_back(make_evaluation("roc", s));
  CHECK(std::isnan(find_metric(all, "auc")));
  CHECK(find_metric(all, "recall/1") != 0);
  CHECK(error_of([&] { find_metric(all, "acuracy"); }) ==
        "64: evaluation 'classification' has no metric 'acuracy'; did you "
        "mean 'accuracy'?");
  CHECK(error_of([&] { find_metric(all, "average_precison"); }) ==
        "64: evaluation 'roc' has no metric 'average_precison'; did you mean "
        "'average_precision'?");
  CHECK(error_of([&] { all[0]->metric("recall/2"); }) ==
        "64: 'recall/2': there is no class or output '2'");
  CHECK(error_of([] { find_metric({}, "x"); }).substr(0, 3) == "64:");
  for (const auto& e : all)
    for (const std::string& name : e->metrics())
      CHECK(error_of([&] { e->metric(name); }).empty());

  CHECK(higher_is_better("accuracy"));
  CHECK(higher_is_better("r2"));
  CHECK(higher_is_better("recall/cat"));
  CHECK_FALSE(higher_is_better("log_loss"));
  CHECK_FALSE(higher_is_better("mse/depth"));
  CHECK_FALSE(higher_is_better("ece"));
}

}  // namespace
}  // namespace dl::eval::kinds_test
