// Learning that is the same whatever the order and the parts.

#include "libcore/vectorize/learner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "libcore/base/error.h"
#include "tests/unit/error_of.h"

namespace dl::vectorize::learner_test {

namespace {

FixedSum sum_of(const std::vector<double>& values) {
  FixedSum sum;
  for (const double value : values) sum.add(value);
  return sum;
}

}  // namespace

TEST_CASE("a sum without rounding") {
  CHECK(sum_of({1e300, 1, -1e300, 2}).mean() == 0.75);
  CHECK(sum_of({-3}).mean() == -3);
  CHECK(sum_of({0, 0}).mean() == 0);
  CHECK(sum_of({-1e308, -1e308, -1e308}).mean() == -1e308);
  const double tiny = std::numeric_limits<double>::denorm_min();
  CHECK(sum_of({tiny}).mean() == tiny);
  CHECK(sum_of({tiny * 5, -tiny * 3}).mean() == tiny);
  CHECK(sum_of({1, tiny, -1}).mean() == tiny / 3);
  CHECK(sum_of(std::vector<double>(1000, 0.1)).mean() == 0.1);
}

TEST_CASE("a value that comes many times") {
  FixedSum once = sum_of({7, -0.1, 1e-320});
  for (int i = 0; i < 5000; ++i) once.add(-0.1);
  FixedSum at_once = sum_of({7, 1e-320});
  at_once.add(-0.1, 5001);
  CHECK(at_once.state() == once.state());
  FixedSum most;
  most.add(1e300, std::int64_t{1} << 40);
  most.add(-1e300, (std::int64_t{1} << 40) - 1);
  most.add(-1e300);
  CHECK(most.mean() == 0);
  CHECK(most.count() == std::int64_t{1} << 41);
}

TEST_CASE("sums of parts, in any order, have the state of the whole") {
  std::mt19937 random(1);
  std::vector<double> values;
  for (int i = 0; i < 3000; ++i)
    values.push_back(std::ldexp(static_cast<double>(random()) - 2e9,
                                static_cast<int>(random() % 200) - 100));
  const FixedSum whole = sum_of(values);
  std::ranges::shuffle(values, random);
  FixedSum parts;
  for (std::size_t at = 0; at < values.size(); at += 700)
    parts.merge(
        JsonView(sum_of({values.begin() + static_cast<std::ptrdiff_t>(at),
                         values.begin() + static_cast<std::ptrdiff_t>(std::min(
                                              at + 700, values.size()))})
                     .state(),
                 Code::kBug),
        700);
  CHECK(parts.state() == whole.state());
  CHECK(parts.mean() == whole.mean());
}

TEST_CASE("a variance that rounding would lose") {
  Moments moments, parts, other;
  for (const double value : {1e12 + 4, 1e12 + 7, 1e12 + 13, 1e12 + 16})
    moments.add(value);
  CHECK(moments.mean() == 1e12 + 10);
  CHECK(moments.variance() == 22.5);
  for (const double value : {-1.0, -3.0}) parts.add(value);
  CHECK(parts.variance() == 1);
  other.add(-5);
  parts.merge(JsonView(other.state(), Code::kBug), 1);
  CHECK(parts.mean() == -3);
  CHECK(parts.variance() == Approx(8.0 / 3));
  CHECK(other.variance() == 0);
}

TEST_CASE("a state that cannot be is refused, with its place") {
  const auto refused = [](auto learner, const char* text) {
    const Json state = parse_json(text, "it", Code::kBug);
    return error_of(
        [&] { learner.merge(JsonView(state, Code::kData, "fit"), 3); });
  };
  for (const char* text :
       {"null", "[]", R"({"count": 1, "first": 0})",
        R"({"count": 4, "first": 0, "digits": [1]})",
        R"({"count": -1, "first": 0, "digits": [1]})",
        R"({"count": 0, "first": 0, "digits": [1]})",
        R"({"count": 1, "first": 66, "digits": [1]})",
        R"({"count": 1, "first": 67, "digits": [1, 1]})",
        R"({"count": 1, "first": -1, "digits": [1]})",
        R"({"count": 1, "first": 0, "digits": [-1]})",
        R"({"count": 1, "first": 0, "digits": [4294967296]})",
        R"({"count": 1, "first": 0, "digits": [1e300]})",
        R"({"count": 1, "first": 0, "digits": ["NaN"]})",
        R"({"count": 1, "first": 0, "digits": [9223372036854775807]})"}) {
    INFO(text);
    CHECK_THAT(refused(FixedSum(), text), Catch::StartsWith("65: fit"));
  }
  for (const char* text : {"null", R"({"a": "b"})", R"({"a": 0})",
                           R"({"a": -1})", R"({"a": 2, "b": 2})"}) {
    INFO(text);
    CHECK_THAT(refused(TextCounts(), text), Catch::StartsWith("65: fit"));
  }
}

}  // namespace dl::vectorize::learner_test
