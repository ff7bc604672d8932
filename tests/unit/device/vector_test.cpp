// Elementwise primitives, on both devices.

#include "tests/unit/device/lab.h"

namespace dl::device::vector_test {

using namespace dl::device::test;

namespace {

// Below, at and above the widths of vectors and of interleaved sums.
const std::vector<std::int64_t> kLengths = {0,  1,  7,  8,   15,   16,
                                            17, 31, 64, 100, 1000, 4099};

}  // namespace

TEST_CASE("elementwise arithmetic, by hand") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    dl::device::Device& d = lab.device();
    const View y = lab.put(Shape{3}, {1, -2, 4});
    const View x = lab.put(Shape{3}, {10, 20, -30});
    d.scale(y, 0.5);
    CHECK(lab.get(y) == Values{0.5, -1, 2});
    d.add(y, 2, x);
    CHECK(lab.get(y) == Values{20.5, 39, -58});
    d.multiply(y, y, x);
    CHECK(lab.get(y) == Values{205, 780, 1740});
    d.copy(y, x);
    CHECK(lab.get(y) == Values{10, 20, -30});
    d.fill(y, -3);
    CHECK(lab.get(y) == Values{-3, -3, -3});
  }
}

TEST_CASE("elementwise arithmetic of the cpu agrees with the reference") {
  for (const std::int64_t n : kLengths) {
    CAPTURE(n);
    const Shape shape{n};
    check_like_reference([&](Lab& lab) {
      const View y = lab.random(shape, 1), x = lab.random(shape, 2);
      lab.device().scale(y, 0.7);
      lab.device().add(y, -1.3, x);
      lab.device().multiply(y, x, y);
      return lab.get(y);
    });
  }
}

TEST_CASE("shapes of elementwise arguments may differ, sizes may not") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View a = lab.random(Shape{2, 6}, 1), b = lab.random(Shape{3, 4}, 2);
    CHECK_NOTHROW(lab.device().copy(a, b));
    CHECK(lab.get(a) == lab.get(b));
    const View c = lab.random(Shape{11}, 3);
    CHECK_THROWS_AS(lab.device().copy(a, c), Error);
    CHECK_THROWS_AS(lab.device().add(a, 1, c), Error);
    CHECK_THROWS_AS(lab.device().multiply(a, a, c), Error);
    CHECK_THROWS_AS(lab.device().scale({}, 1), Error);
  }
}

}  // namespace dl::device::vector_test
