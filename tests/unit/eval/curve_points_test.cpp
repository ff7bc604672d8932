// Tests of points_of() of libcore/eval/curve.h.

#include <catch2/catch.hpp>

#include "libcore/eval/curve.h"
#include "libcore/eval/scores.h"

namespace dl::eval::curve_points_test {
namespace {

TEST_CASE("points of a curve are counts from the highest threshold down") {
  Scores scores(0);
  scores.add(0.9F, true);
  scores.add(0.5F, false);
  scores.add(0.25F, false);
  scores.add(0.125F, true);
  CHECK(points_of(scores.curve(), 10) ==
        Json({{"threshold", {0.9F, 0.25F, 0.125F}},
              {"true_positives", {1, 1, 2}},
              {"false_positives", {0, 2, 2}}}));
}

TEST_CASE("of many points as many are chosen, with both ends") {
  std::vector<Step> steps;
  for (int i = 0; i < 1000; ++i)
    steps.push_back({1, 2, static_cast<float>(1000 - i)});
  const Json points = points_of(steps, 7);
  REQUIRE(points["threshold"].size() == 7);
  CHECK(points["threshold"][0] == 1000);
  CHECK(points["threshold"][6] == 1);
  CHECK(points["true_positives"][6] == 1000);
  CHECK(points["false_positives"][6] == 2000);
  CHECK(points_of({}, 5)["threshold"].empty());
  CHECK(points_of({{1, 0, 0.5F}}, 5)["threshold"].size() == 1);
}

}  // namespace
}  // namespace dl::eval::curve_points_test
