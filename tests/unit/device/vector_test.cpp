// Elementwise primitives and sums, on both devices.

#include "tests/unit/device/lab.h"

using namespace dl::device::test;
using dl::Error;

namespace {

// Below, at and above the widths of vectors and of interleaved sums.
const std::vector<std::int64_t> kLengths = {0,  1,  7,  8,   15,   16,
                                            17, 31, 64, 100, 1000, 4099};

}  // namespace

TEST_CASE("elementwise arithmetic, by hand") {
  for (const char* name : {"cpu", "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    dl::tensor::Device& d = lab.device();
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
    CHECK(d.sum_squares(y) == 1400);
    CHECK(d.sum_absolute(y) == 60);
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
    check_like_reference([&](Lab& lab) {
      const View x = lab.random(shape, 3, -5, 5);
      return Values{lab.device().sum_squares(x), lab.device().sum_absolute(x)};
    });
  }
}

TEST_CASE("shapes of elementwise arguments may differ, sizes may not") {
  for (const char* name : {"cpu", "reference"}) {
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

TEST_CASE("all_finite finds a single bad value anywhere") {
  for (const char* name : {"cpu", "reference"}) {
    Lab lab(name);
    for (const std::int64_t n : kLengths) {
      const View x = lab.random(Shape{n}, 1);
      CHECK(lab.device().all_finite(x));
      for (const double bad : {kNan, kInf, -kInf})
        for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
          if (n == 0) continue;
          CAPTURE(name, n, bad, at);
          const View one = x.at(at, Shape{1});
          const Values before = lab.get(one);
          lab.device().fill(one, bad);
          CHECK_FALSE(lab.device().all_finite(x));
          lab.device().fill(one, before[0]);
        }
    }
    // The largest and smallest numbers are finite.
    const View edge = lab.put(Shape{3}, {3.4e38, -3.4e38, 1e-45});
    CHECK(lab.device().all_finite(edge));
  }
}

TEST_CASE("sums keep NaN") {
  for (const char* name : {"cpu", "reference"}) {
    Lab lab(name);
    for (std::int64_t at = 0; at < 40; ++at) {
      const View x = lab.random(Shape{40}, 1);
      lab.device().fill(x.at(at, Shape{1}), kNan);
      CHECK(std::isnan(lab.device().sum_squares(x)));
      CHECK(std::isnan(lab.device().sum_absolute(x)));
    }
  }
}
