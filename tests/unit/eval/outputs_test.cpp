// Tests of evaluations of models with several outputs.

#include "libcore/eval/outputs.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "libcore/eval/report.h"
#include "tests/unit/eval/make.h"

namespace dl::eval::outputs_test {
namespace {

using Texts = std::vector<std::string>;

// A digit, whether it is odd, and how it is slanted.
const Subjects kThree = {{3, {"0", "1", "2"}, "digit"},
                         {1, {"even", "odd"}, "parity"},
                         {1, {}, "slant"}};
const Texts kUsual = {"classification", "binary", "regression"};

Texts chosen(const Texts& asked) { return choose(asked, kUsual, kThree); }

TEST_CASE("each output is evaluated as is usual for it") {
  CHECK(chosen({}) ==
        Texts{"digit=classification", "parity=binary", "slant=regression"});
  CHECK(choose({}, {"roc"}, {{1, {}}}) == Texts{"roc"});
}

TEST_CASE("a kind without an output is of every one that it suits") {
  CHECK(chosen({"classification"}) ==
        Texts{"digit=classification", "parity=classification"});
  CHECK(chosen({"roc:steps=9", "regression"}) ==
        Texts{"digit=roc:steps=9", "parity=roc:steps=9", "slant=regression"});
  CHECK(chosen({"binary"}) == Texts{"parity=binary"});
  CHECK(chosen({"slant=binary", "calibration"}) ==
        Texts{"slant=binary", "digit=calibration", "parity=calibration"});
  CHECK(choose({"binary:threshold=0.2"}, {"regression"}, {{2, {}}}) ==
        Texts{"binary:threshold=0.2"});
  // Signs are no probabilities.
  CHECK(choose({"calibration"}, {"binary:threshold=0", "binary"},
               {{1, {}, "a"}, {1, {}, "b"}}) == Texts{"b=calibration"});
}

TEST_CASE("outputs and kinds that do not go together are told") {
  const auto refusal = [&](const Texts& asked) {
    return error_of([&] { make_evaluations(chosen(asked), kThree); });
  };
  CHECK(refusal({"digt=roc"}) ==
        "64: evaluation 'digt=roc': the model has no output 'digt'; did you "
        "mean 'digit'?");
  CHECK(refusal({"rock"}) ==
        "64: there is no evaluation 'rock'; did you mean 'roc'?");
  CHECK(error_of([&] {
          choose({"regression"}, {"binary", "binary"},
                 {{1, {}, "a"}, {1, {}, "b"}});
        }) ==
        "64: evaluation 'regression' suits none of the outputs; want "
        "OUTPUT=regression if it is meant");
  CHECK(error_of([&] {
          choose({"a=roc"}, {"roc"}, {{1, {}}});
        }) ==
        "64: evaluation 'a=roc': the model has a single output; want 'roc'");
  CHECK(error_of([&] { make_chosen("roc", kThree); }) ==
        "64: evaluation 'roc': want OUTPUT=roc");
}

Evaluations sample() {
  Evaluations all = make_evaluations(
      {"digit=classification:top=2", "parity=classification", "parity=roc"},
      kThree);
  all[0]->add(make_tensor<float>({0.5F, 0.25F, 0.25F, 0, 0, 1}, 3),
              make_tensor<std::int32_t>({0, 1}), nullptr);
  for (const int i : {1, 2})
    all[static_cast<std::size_t>(i)]->add(make_tensor<float>({0.75F, 0.25F}, 1),
                                          make_tensor<std::int32_t>({1, 0}),
                                          nullptr);
  return all;
}

TEST_CASE("metrics of several outputs are called by the output") {
  const Evaluations all = sample();
  CHECK(find_metric(all, "digit:accuracy") == 0.5);
  CHECK(find_metric(all, "parity:accuracy") == 1);
  CHECK(find_metric(all, "parity:recall/odd") == 1);
  // Metrics of a single output.
  CHECK(find_metric(all, "top_2_accuracy") == 0.5);
  CHECK(find_metric(all, "auc") == 1);
  const auto refusal = [&](const char* name) {
    return error_of([&] { find_metric(all, name); });
  };
  CHECK(refusal("accuracy") ==
        "64: several outputs have the metric 'accuracy': want "
        "'digit:accuracy' or 'parity:accuracy'");
  CHECK(refusal("digit:auc") ==
        "64: evaluation 'classification' has no metric 'auc'; it has examples, "
        "accuracy, top_2_accuracy, precision_macro, recall_macro, f1_macro, "
        "mcc_macro, precision_micro, recall_micro, f1_micro, mcc, log_loss");
  CHECK(refusal("digit:acuracy") ==
        "64: evaluation 'classification' has no metric 'acuracy'; did you "
        "mean 'accuracy'?");
  CHECK(all[0]->called("accuracy") == "digit:accuracy");
  CHECK(higher_is_better("digit:accuracy"));
  CHECK_FALSE(higher_is_better("digit:log_loss"));
}

TEST_CASE("a class name with a colon is no output") {
  const Evaluations all =
      make_evaluations({"classification"}, {{2, {"a:b", "c"}}});
  CHECK(std::isnan(find_metric(all, "recall/a:b")));
}

TEST_CASE("reports of several outputs read back, merge and are told apart") {
  const Json json = report_to_json(sample());
  CHECK(json["evaluations"][1]["output"] == "parity");
  const auto reread = [&] {
    return report_from_json(JsonView(json, Code::kData));
  };
  Evaluations twice = reread();
  CHECK(report_to_json(twice) == json);
  merge(twice, reread());
  CHECK(find_metric(twice, "digit:examples") == 4);
  const Subjects alike = {{1, {}, "a"}, {1, {}, "b"}};
  CHECK(error_of([&] {
          make_chosen("a=roc", alike)->merge(*make_chosen("b=roc", alike));
        }) == "65: cannot merge evaluations 'roc': their outputs differ");
  std::ostringstream text;
  print(text, twice);
  CHECK(text.str().starts_with("digit: classification: 3 classes, 4 examp"));
  CHECK(text.str().find("\nparity: roc: 1 output") != std::string::npos);
  Json bad = json;
  bad["evaluations"][0]["output"] = "a b";
  CHECK(error_of([&] {
          report_from_json(JsonView(bad, Code::kData));
        }).find("output: want a name") != std::string::npos);
}

TEST_CASE("options go to the evaluations that have such a setting") {
  Texts kinds = chosen({"classification", "binary"});
  set_top(kinds, 3, kThree);
  set_threshold(kinds, "0.3", kThree);
  CHECK(kinds == Texts{"digit=classification:top=3",
                       "parity=classification:threshold=0.3",
                       "parity=binary:threshold=0.3"});
  CHECK(error_of([&] { set_top(kinds, 4, kThree); }) ==
        "64: --top is for evaluation 'classification' of as many classes");
}

}  // namespace
}  // namespace dl::eval::outputs_test
