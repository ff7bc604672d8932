// Parts merged equal one pass over the whole, to the byte of the JSON form,
// for every kind, partition and order.

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "libcore/base/philox.h"
#include "libcore/eval/evaluation.h"
#include "tests/unit/eval/make.h"

namespace dl::eval::merge_test {
namespace {

constexpr int kExamples = 240;
constexpr int kOutputs = 4;

struct Data {
  tensor::Tensor outputs, classes, rows, targets, mask;
};

Data make_data(std::uint64_t seed) {
  Philox random(seed, 5);
  std::vector<float> outputs, targets, mask;
  std::vector<std::int32_t> classes;
  std::vector<std::uint8_t> rows;
  for (int i = 0; i < kExamples; ++i) {
    double sum = 0;
    std::vector<double> p;
    for (int j = 0; j < kOutputs; ++j) {
      p.push_back(std::exp(2 * random.normal()));
      sum += p.back();
    }
    for (int j = 0; j < kOutputs; ++j) {
      outputs.push_back(static_cast<float>(p[j] / sum));
      targets.push_back(static_cast<float>(std::exp(10 * random.normal())));
      rows.push_back(static_cast<std::uint8_t>(random.below(2)));
    }
    classes.push_back(static_cast<std::int32_t>(random.below(kOutputs)));
    mask.push_back(random.below(10) == 0 ? 0 : 1);
  }
  return {make_tensor(outputs, kOutputs), make_tensor(classes),
          make_tensor(rows, kOutputs), make_tensor(targets, kOutputs),
          make_tensor(mask)};
}

std::unique_ptr<Evaluation> reread(const Evaluation& evaluation) {
  const Json json =
      parse_json(dump_json(evaluation.to_json()), "text", Code::kData);
  return evaluation_from_json(JsonView(json, Code::kData));
}

void check_kind(const std::string& kind, const Subject& subject,
                const tensor::Tensor& outputs, const tensor::Tensor& labels,
                const tensor::Tensor& mask) {
  INFO(kind);
  auto whole = make_evaluation(kind, subject);
  whole->add(outputs, labels, &mask);
  const std::string expected = dump_json(whole->to_json());
  CHECK(dump_json(reread(*whole)->to_json()) == expected);

  Philox random(17, 1);
  for (int round = 0; round < 10; ++round) {
    std::vector<std::unique_ptr<Evaluation>> parts;
    parts.push_back(make_evaluation(kind, subject));  // an empty one
    for (std::int64_t begin = 0; begin < kExamples;) {
      const auto end = std::min<std::int64_t>(
          kExamples, begin + 1 + static_cast<std::int64_t>(random.below(60)));
      const tensor::Tensor part_mask = mask.rows(begin, end);
      parts.push_back(make_evaluation(kind, subject));
      parts.back()->add(outputs.rows(begin, end), labels.rows(begin, end),
                        &part_mask);
      begin = end;
    }
    shuffle(std::span<std::unique_ptr<Evaluation>>(parts), random);
    auto merged = std::move(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i)
      merged->merge(i % 2 == 0 ? *parts[i] : *reread(*parts[i]));
    REQUIRE(dump_json(merged->to_json()) == expected);
  }
}

TEST_CASE("merging equals one pass") {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Data d = make_data(seed);
    const Subject s = {kOutputs,
                       {"north", "east",
                        "s\xc3\xbc"
                        "d",
                        "west"}};
    for (const char* kind :
         {"classification", "classification:top=3", "roc", "roc:steps=20",
          "calibration", "calibration:bins=7", "binary"})
      check_kind(kind, s, d.outputs, d.classes, d.mask);
    for (const char* kind :
         {"binary:threshold=0.3", "roc", "roc:steps=1", "calibration"})
      check_kind(kind, s, d.outputs, d.rows, d.mask);
    check_kind("regression", s, d.outputs, d.targets, d.mask);
  }
}

TEST_CASE("one by one equals all at once") {
  const Data d = make_data(9);
  const Subject s = {kOutputs, {}};
  auto whole = make_evaluation("regression", s);
  whole->add(d.outputs, d.targets, nullptr);
  auto backwards = make_evaluation("regression", s);
  for (std::int64_t i = kExamples; i-- > 0;)
    backwards->add(d.outputs.rows(i, i + 1), d.targets.rows(i, i + 1), nullptr);
  CHECK(backwards->to_json() == whole->to_json());
}

TEST_CASE("only like merges with like") {
  const Subject s = {2, {"a", "b"}};
  const auto merge = [&](const std::string& left, const std::string& right,
                         const Subject& other) {
    return error_of([&] {
      make_evaluation(left, s)->merge(*make_evaluation(right, other));
    });
  };
  CHECK(merge("roc", "roc", s).empty());
  CHECK(merge("roc", "binary", s) ==
        "65: cannot merge evaluations 'roc' and 'binary'");
  CHECK(merge("roc", "roc:steps=5", s) ==
        "65: cannot merge evaluations 'roc': their settings differ");
  CHECK(merge("roc", "roc", {3, {"a", "b"}}) ==
        "65: cannot merge evaluations 'roc': their number of outputs differ");
  CHECK(merge("roc", "roc", {2, {"a", "c"}}) ==
        "65: cannot merge evaluations 'roc': their names of outputs differ");
  CHECK(
      merge("classification", "classification:top=1,threshold=0.5", s).empty());
}

// Each: a kind, a JSON pointer, and what to put there to spoil the document.
TEST_CASE("a document that cannot be is refused") {
  const Data d = make_data(1);
  const Subject s = {kOutputs, {}};
  const auto spoilt = [&](const std::string& kind, const std::string& at,
                          const Json& value) {
    auto e = make_evaluation(kind, s);
    e->add(d.outputs, kind == "regression" ? d.targets : d.classes, nullptr);
    Json json = e->to_json();
    json[Json::json_pointer(at)] = value;
    const std::string error =
        error_of([&] { evaluation_from_json(JsonView(json, Code::kData)); });
    INFO(kind << " " << at << ": " << error);
    CHECK(error.substr(0, 3) == "65:");
  };
  for (const char* kind : {"classification", "binary", "roc", "roc:steps=3",
                           "regression", "calibration"}) {
    spoilt(kind, "/kind", "clasification");
    spoilt(kind, "/kind", 7);
    spoilt(kind, "/names", Json::array({"a", "b", "c", "d", "e"}));
    spoilt(kind, "/settings", Json::array());
    spoilt(kind, "/settings/none", 1.0);
    spoilt(kind, "/state", Json::object());
    spoilt(kind, "/state", 1);
    spoilt(kind, "/state/more", 1);
    spoilt(kind, "/more", 1);
    spoilt(kind, "/outputs", 0);
    spoilt(kind, "/outputs", -1);
    spoilt(kind, "/outputs", std::int64_t{1} << 40);
    if (std::string(kind) != "classification")
      spoilt(kind, "/outputs", 1 << 20);
  }
  spoilt("classification", "/state/confusion/0", Json::array({0, 4, 1}));
  spoilt("classification", "/state/confusion/0", Json::array({0, 0}));
  spoilt("classification", "/state/confusion/0", Json::array({0, 0, -1}));
  spoilt("classification", "/state/confusion/0", Json::array({1, 1, 1}));
  spoilt("classification", "/state/top_correct", 1000000);
  spoilt("classification", "/state/log_loss", "0x1p+1");
  spoilt("classification", "/settings/top", 0.5);
  spoilt("binary", "/state/outputs/0/0", 100000);
  spoilt("binary", "/state/outputs/0", Json::array({1, 2, 3}));
  spoilt("binary", "/state/exact", 100000);
  spoilt("roc", "/state/outputs/0/0/1", -1);
  spoilt("roc", "/state/outputs/0/0/1", std::int64_t{1} << 40);
  spoilt("roc", "/state/outputs/0/0/1", 0.5);
  spoilt("roc", "/state/outputs/1/0", Json::array());
  spoilt("roc:steps=3", "/settings/steps", 1e9);
  spoilt("roc:steps=3", "/settings/steps", 4);
  spoilt("roc:steps=3", "/state/outputs/0/0/0", -1);
  spoilt("regression", "/state/outputs/0/yy", "0x1p+1000");
  spoilt("regression", "/state/outputs/0/yy", 3);
  spoilt("calibration", "/settings/bins", 11.0);
  spoilt("calibration", "/state/confidence/0/1", 100000);
  spoilt("calibration", "/state/outputs/0/positives", Json::array());
}

}  // namespace
}  // namespace dl::eval::merge_test
