// Tests of libcore/convert/import/check.h.

#include "libcore/convert/import/check.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/unit/convert/import/onnx_graphs.h"

namespace dl::convert::check_test {

TEST_CASE("the same infinity differs by nothing, any other by infinity") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  testing::Graph doubled({-1, 1});
  doubled.reals("two", {1, 1}, {2}).node("Gemm", {"x", "two"}, "y");
  CHECK(doubled.gap({3e38F}, {kInfinity}) == 0);
  CHECK(doubled.gap({-3e38F}, {-kInfinity}) == 0);
  CHECK(doubled.gap({3e38F}, {-kInfinity}) == kInfinity);
  CHECK(doubled.gap({3}, {kInfinity}) == kInfinity);
  CHECK(doubled.gap({3e38F}, {6}) == kInfinity);
  CHECK(doubled.gap({3}, {std::numeric_limits<float>::quiet_NaN()}) ==
        kInfinity);
  CHECK(doubled.gap({std::numeric_limits<float>::quiet_NaN()},
                    {std::numeric_limits<float>::quiet_NaN()}) == 0);
}

TEST_CASE(
    "a difference may be so large by itself, and so much of the largest") {
  const Difference small{
      .output = "y", .examples = 1, .largest = 1e-7, .magnitude = 1e-5};
  CHECK(!small.within(1e-4, 0));
  CHECK(small.within(1e-4, 1e-6));
  CHECK(small.within(1e-2, 0));
  const Difference large{
      .output = "y", .examples = 1, .largest = 1e-3, .magnitude = 100};
  CHECK(large.within(1e-4, 0));
  CHECK(!large.within(1e-6, 1e-6));
  const Difference none{.output = "y",
                        .examples = 1,
                        .largest = std::numeric_limits<double>::infinity(),
                        .magnitude = 1};
  CHECK(!none.within(1e30, 1e30));
}

}  // namespace dl::convert::check_test
