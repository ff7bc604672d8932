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
}

}  // namespace dl::convert::check_test
