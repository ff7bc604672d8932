// Tests of libcore/eval/roc.h.

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "libcore/base/philox.h"
#include "libcore/eval/evaluation.h"
#include "libcore/eval/text.h"
#include "tests/unit/eval/make.h"

namespace dl::eval::roc_test {
namespace {

using Catch::Detail::Approx;

struct Sample {
  std::vector<float> scores;
  std::vector<std::uint8_t> labels;
};

// Scores out of `levels` values, so that many are tied.
Sample sample(std::uint64_t seed, int n, std::uint64_t levels) {
  Philox random(seed, 3);
  Sample made;
  for (int i = 0; i < n; ++i) {
    const bool positive = random.below(3) == 0;
    const std::uint64_t level = random.below(levels);
    made.scores.push_back(
        static_cast<float>(positive ? std::max(level, random.below(levels))
                                    : level) /
        static_cast<float>(levels));
    made.labels.push_back(positive ? 1 : 0);
  }
  return made;
}

// All pairs of a positive and a negative.
double naive_auc(const Sample& s) {
  double won = 0, pairs = 0;
  for (std::size_t i = 0; i < s.scores.size(); ++i)
    for (std::size_t j = 0; j < s.scores.size(); ++j) {
      if (s.labels[i] != 1 || s.labels[j] != 0) continue;
      ++pairs;
      if (s.scores[i] > s.scores[j]) won += 1;
      if (s.scores[i] == s.scores[j]) won += 0.5;
    }
  return won / pairs;
}

// For each threshold that is a score: precision times the growth of recall.
double naive_average_precision(const Sample& s) {
  std::vector<float> thresholds = s.scores;
  std::sort(thresholds.rbegin(), thresholds.rend());
  double area = 0, last = 0, positives = 0;
  for (const std::uint8_t label : s.labels) positives += label;
  for (const float threshold : thresholds) {
    double tp = 0, over = 0;
    for (std::size_t i = 0; i < s.scores.size(); ++i)
      if (s.scores[i] >= threshold) {
        ++over;
        tp += s.labels[i];
      }
    area += (tp / positives - last) * (tp / over);
    last = tp / positives;
  }
  return area;
}

std::unique_ptr<Evaluation> evaluate(const std::string& kind, const Sample& s) {
  auto made = make_evaluation(kind, {1, {}});
  made->add(make_tensor(s.scores, 1), make_tensor(s.labels), nullptr);
  return made;
}

TEST_CASE("areas by hand") {
  const Sample s = {{0.1F, 0.4F, 0.35F, 0.8F}, {0, 0, 1, 1}};
  const auto e = evaluate("roc", s);
  CHECK(e->metric("auc") == 0.75);
  CHECK(e->metric("average_precision") == Approx(0.5 * 1 + 0.5 * 2 / 3));
  CHECK(e->metric("auc/0") == 0.75);
  CHECK(e->metric("positives/0") == 2);
  CHECK(evaluate("roc", {{0.5F, 0.5F, 0.5F}, {1, 0, 1}})->metric("auc") == 0.5);
  CHECK(evaluate("roc", {{-3, 7}, {0, 1}})->metric("auc") == 1);
  CHECK(evaluate("roc", {{-3, 7}, {1, 0}})->metric("auc") == 0);
  CHECK(std::isnan(evaluate("roc", {{0.5F}, {1}})->metric("auc")));
}

TEST_CASE("areas agree with their definitions") {
  for (const std::uint64_t levels : {2U, 7U, 50U, 1000000U})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Sample s = sample(seed, 300, levels);
      const auto e = evaluate("roc", s);
      INFO(levels << " levels, seed " << seed);
      CHECK(e->metric("auc") == Approx(naive_auc(s)).epsilon(1e-12));
      CHECK(e->metric("average_precision") ==
            Approx(naive_average_precision(s)).epsilon(1e-12));
    }
}

TEST_CASE("thresholds between the levels lose nothing") {
  // Levels 0, 1/10, ...: 10 steps have a threshold at each of them.
  const Sample s = sample(3, 500, 10);
  const auto counted = evaluate("roc:steps=10", s);
  CHECK(counted->metric("auc") == evaluate("roc", s)->metric("auc"));
  // One threshold in the middle makes two steps.
  const auto coarse = evaluate("roc:steps=2", {{0.1F, 0.4F, 0.5F, 1},  //
                                               {0, 1, 0, 1}});
  CHECK(coarse->metric("auc") == Approx((0.5 * 2 + 1 + 0.5 + 1) / 4 - 0.25));
}

// At each score as a threshold, from the highest down.
double naive_best_f1(const Sample& s, double& best_threshold) {
  std::vector<float> thresholds = s.scores;
  std::sort(thresholds.rbegin(), thresholds.rend());
  double best = 0;
  for (const float threshold : thresholds) {
    double tp = 0, wrong = 0;
    for (std::size_t i = 0; i < s.scores.size(); ++i) {
      const bool yes = s.scores[i] >= threshold;
      tp += yes && s.labels[i] == 1 ? 1 : 0;
      wrong += yes != (s.labels[i] == 1) ? 1 : 0;
    }
    const double f1 = tp == 0 ? 0 : 2 * tp / (2 * tp + wrong);
    if (f1 >= best) best_threshold = threshold;
    best = std::max(best, f1);
  }
  return best;
}

TEST_CASE("the threshold of the highest F1") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Sample s = sample(seed, 60, 1 + 7 * seed);
    double threshold = 0;
    const double best = naive_best_f1(s, threshold);
    const auto roc = evaluate("roc", s);
    CHECK(roc->metric("best_f1") == best);
    CHECK(roc->metric("best_f1_threshold/0") == threshold);
    // And that is what a decision by it reaches.
    auto decided =
        make_evaluation("binary:threshold=" + shortest(threshold), {1, {}});
    decided->add(make_tensor<float>(s.scores, 1),
                 make_tensor<std::uint8_t>(s.labels), nullptr);
    CHECK(decided->metric("f1/0") == best);
  }
  const auto coarse = evaluate("roc:steps=4", {{0.1F, 0.4F, 0.6F, 1},  //
                                               {0, 0, 1, 1}});
  CHECK(coarse->metric("best_f1_threshold/0") == 0.5);
  CHECK(coarse->metric("best_f1") == 1);
  const auto none = evaluate("roc", {{0.1F, 0.4F}, {0, 0}});
  CHECK(std::isnan(none->metric("best_f1")));
  CHECK(std::isnan(none->metric("best_f1_threshold/0")));
}

TEST_CASE("each class against the rest") {
  auto e = make_evaluation("roc", {3, {"a", "b", "c"}});
  e->add(make_tensor<float>({0.8F, 0.1F, 0.1F,  //
                             0.2F, 0.5F, 0.3F,  //
                             0.6F, 0.3F, 0.1F,  //
                             0.1F, 0.6F, 0.3F},
                            3),
         make_tensor<std::int32_t>({0, 1, 1, 0}), nullptr);
  // a: positives 0.8, 0.1 against 0.2, 0.6: two pairs of four.
  CHECK(e->metric("auc/a") == 0.5);
  // b: positives 0.5, 0.3 against 0.1, 0.6.
  CHECK(e->metric("auc/b") == 0.5);
  CHECK(std::isnan(e->metric("auc/c")));
  CHECK(e->metric("auc") == 0.5);  // c is left out
  CHECK(e->to_json()["metrics"]["outputs"][2]["auc"].is_null());
  CHECK(e->to_json()["metrics"]["finite"] == false);
  std::ostringstream out;
  e->print(out);
  CHECK(
      out.str() ==
      "roc: 3 outputs, 4 examples, exact\n"
      "\n"
      "output     auc  average_precision  best_f1  threshold  positives  "
      "negatives\n"
      "a       0.5000             0.7500   0.6667        0.1          2       "
      "   2\n"
      "b       0.5000             0.5833   0.8000        0.3          2       "
      "   2\n"
      "c            -                  -        -          -          0       "
      "   4\n"
      "mean    0.5000             0.6667   0.7333\n");
}

TEST_CASE("several labels of one example") {
  auto e = make_evaluation("roc", {2, {}});
  e->add(make_tensor<float>({0.9F, 0.8F, 0.2F, 0.1F}, 2),
         make_tensor<std::uint8_t>({1, 1, 0, 0}, 2), nullptr);
  CHECK(e->metric("auc") == 1);
  CHECK(error_of([&] {
          e->add(make_tensor<float>({0, 0}, 2),
                 make_tensor<float>({1, 0.5F}, 2), nullptr);
        }) == "65: the label of example 2 is 0.5 for output 1, want 0 or 1");
  CHECK(e->metric("positives/0") == 1);  // the bad example left no trace
}

}  // namespace
}  // namespace dl::eval::roc_test
