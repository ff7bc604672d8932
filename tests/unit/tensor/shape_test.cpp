// Tests of libcore/tensor/shape.h.

#include "libcore/tensor/shape.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <vector>

#include "libcore/base/error.h"

namespace dl::tensor::shape_test {

namespace {

Code code_of(const std::vector<std::int64_t>& extents) {
  try {
    Shape shape{std::span<const std::int64_t>(extents)};
  } catch (const Error& e) {
    return e.code();
  }
  return Code::kNo;
}

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("a shape knows its extents") {
  const Shape shape{28, 28, 1};
  CHECK(shape.rank() == 3);
  CHECK(shape[0] == 28);
  CHECK(shape.back() == 1);
  CHECK(shape.elements() == 784);
  CHECK(shape.to_string() == "[28, 28, 1]");
  CHECK(Shape().elements() == 1);
  CHECK(Shape().to_string() == "[]");
  CHECK(Shape{3, 0, 2}.elements() == 0);
}

TEST_CASE("shapes compare by rank and extents") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK_FALSE(Shape{2, 3} == Shape{3, 2});
  CHECK_FALSE(Shape{2, 3} == Shape{2, 3, 1});
  CHECK_FALSE(Shape{} == Shape{1});
}

TEST_CASE("the first dimension comes and goes") {
  CHECK(Shape{5, 2, 3}.without_first() == Shape{2, 3});
  CHECK(Shape{2, 3}.with_first(7) == Shape{7, 2, 3});
  CHECK(Shape{4}.without_first() == Shape{});
  CHECK_THROWS_AS(Shape{}.without_first(), Error);
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1, 1, 1, 1}.with_first(1)), Error);
  CHECK_THROWS_AS((Shape{kHuge / 2}.with_first(3)), Error);
}

TEST_CASE("shapes from outside are checked") {
  CHECK(code_of({1, 2, 3, 4, 5, 6, 7, 8}) == Code::kNo);
  CHECK(code_of({kHuge}) == Code::kNo);
  CHECK(code_of({1, 2, 3, 4, 5, 6, 7, 8, 9}) == Code::kData);
  CHECK(code_of({2, -1}) == Code::kData);
  CHECK(code_of({kHuge, 2}) == Code::kData);
  CHECK(code_of({kHuge, 2, 0}) == Code::kData);
  CHECK(code_of(std::vector<std::int64_t>(1000000, 1)) == Code::kData);
  CHECK_THROWS_WITH(
      Shape(std::span<const std::int64_t>(std::vector<std::int64_t>{2, -1})),
      "shape [2, -1] has a negative extent");
}

}  // namespace dl::tensor::shape_test
