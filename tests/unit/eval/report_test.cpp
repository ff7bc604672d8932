// Tests of libcore/eval/report.h.

#include "libcore/eval/report.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "tests/unit/eval/make.h"

namespace dl::eval::report_test {
namespace {

Subjects one(std::int64_t outputs, std::vector<std::string> names = {}) {
  return {Subject{outputs, std::move(names)}};
}

Evaluations sample(const std::vector<std::string>& kinds) {
  Evaluations all = make_evaluations(kinds, one(2, {"no", "a=b"}));
  for (const auto& evaluation : all)
    evaluation->add(make_tensor<float>({0.75F, 0.25F, 0.25F, 0.75F}, 2),
                    make_tensor<std::int32_t>({0, 0}), nullptr);
  return all;
}

Evaluations reread(const Json& json) {
  return report_from_json(JsonView(json, Code::kData));
}

TEST_CASE("a report reads back, and reports merge") {
  const Json one = report_to_json(sample({"classification", "roc"}));
  CHECK(report_to_json(reread(one)) == one);
  Evaluations twice;
  merge(twice, reread(one));
  merge(twice, reread(one));
  CHECK(find_metric(twice, "examples") == 4);
  CHECK(find_metric(twice, "accuracy") == 0.5);
  CHECK(error_of([&] { merge(twice, sample({"roc"})); }) ==
        "65: cannot merge 2 evaluations with 1");
  CHECK(error_of([&] {
          merge(twice, sample({"roc", "classification"}));
        }).substr(0, 3) == "65:");
  std::ostringstream out;
  print(out, twice);
  CHECK(out.str().find("\n\nroc: 2 outputs, 4 examples") != std::string::npos);
}

TEST_CASE("counts are integers in a report, settings as they were given") {
  const Json one = report_to_json(sample({"classification:top=2"}));
  const Json& e = one["evaluations"][0];
  CHECK(e["metrics"]["examples"].dump() == "2");
  CHECK(e["metrics"]["outputs"][0]["true_positives"].dump() == "1");
  CHECK(e["metrics"]["accuracy"].dump() == "0.5");
  CHECK(e["settings"].dump() == R"({"threshold":0.5,"top":2})");
}

TEST_CASE("what is no report is refused") {
  const auto error = [](const std::string& text) {
    const Json json = parse_json(text, "text", Code::kData);
    return error_of([&] { reread(json); }).substr(0, 3);
  };
  CHECK(error("{}") == "65:");
  CHECK(error("[]") == "65:");
  CHECK(error("7") == "65:");
  CHECK(error(R"({"format": "dl-run"})") == "65:");
  CHECK(error(R"({"format":"dl-eval","version":2,"evaluations":[]})") == "65:");
  CHECK(error(R"({"format":"dl-eval","version":1,"evaluations":[]})") == "65:");
  CHECK(error(R"({"format":"dl-eval","version":1,"evaluations":[7]})") ==
        "65:");
  CHECK(error(R"({"format":"dl-eval","version":1})") == "65:");
}

TEST_CASE("bars") {
  const Evaluations all = sample({"classification", "roc"});
  const auto check = [&](const std::vector<std::string>& least,
                         const std::vector<std::string>& most) {
    std::string text;
    for (const std::string& sentence : missed(parse_bars(least, most), all))
      text += sentence + "|";
    return text;
  };
  CHECK(check({"accuracy=0.5"}, {"accuracy=0.5"}).empty());
  CHECK(check({"accuracy=0.75"}, {}) == "accuracy 0.5 is below 0.75|");
  CHECK(check({}, {"accuracy=0.25"}) == "accuracy 0.5 is above 0.25|");
  CHECK(check({"auc=0"}, {"auc=1"}) ==
        "auc is not defined for this data, want at least 0|"
        "auc is not defined for this data, want at most 1|");
  CHECK(check({"recall/no=0.9", "precision/a=b=0.1"}, {}) ==
        "recall/no 0.5 is below 0.9|precision/a=b 0 is below 0.1|");
  for (const char* bad : {"", "accuracy", "=1", "accuracy=", "accuracy=x",
                          "accuracy=nan", "accuracy=1x", "accuracy=inf"})
    CHECK(error_of([&] { check({bad}, {}); }) ==
          "64: --min: want METRIC=NUMBER, got '" + std::string(bad) + "'");
  CHECK(error_of([&] { check({}, {"x"}); }).substr(0, 9) == "64: --max");
  CHECK(error_of([&] { check({"nothing=1"}, {}); }).substr(0, 3) == "64:");
}

TEST_CASE("settings with options of their own") {
  std::vector<std::string> kinds = {"classification", "roc:steps=3",
                                    "binary:threshold=0.1"};
  set_top(kinds, 0, one(1));
  set_threshold(kinds, "", one(1));
  CHECK(kinds[0] == "classification");
  set_top(kinds, 5, one(1));
  set_threshold(kinds, "0.3", one(1));
  CHECK(kinds == std::vector<std::string>{
                     "classification:top=5,threshold=0.3", "roc:steps=3",
                     "binary:threshold=0.1,threshold=0.3"});
  CHECK(error_of([&] {
          make_evaluation(kinds[2], {1, {}});
        }) == "64: 'threshold=0.3': given twice");
  kinds = {"roc"};
  CHECK(error_of([&] { set_top(kinds, 2, one(1)); }) ==
        "64: --top is for evaluation 'classification'");
  CHECK(error_of([&] { set_threshold(kinds, "0", one(1)); }).substr(0, 3) ==
        "64:");
}

TEST_CASE("a threshold has no effect on classes of several outputs") {
  std::vector<std::string> kinds = {"classification"};
  CHECK(error_of([&] { set_threshold(kinds, "0.3", one(3)); }).substr(0, 3) ==
        "64:");
  kinds.emplace_back("binary");
  set_threshold(kinds, "0.3", one(3));
  CHECK(kinds ==
        std::vector<std::string>{"classification", "binary:threshold=0.3"});
  kinds = {"classification:top=1,threshold=0.3"};
  CHECK(error_of([&] {
          make_evaluations(kinds, one(3));
        }).find("for a single output") != std::string::npos);
  CHECK(make_evaluations(kinds, one(1)).size() == 1);
}

}  // namespace
}  // namespace dl::eval::report_test
