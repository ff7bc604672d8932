// Local response normalization: by hand, gradients by finite differences, the
// cpu device against the reference.

#include "tests/unit/device/lab.h"

namespace dl::device::local_norm_test {

using namespace dl::device::test;
using dl::device::LocalNorm;

namespace {

struct Case {
  Shape shape;
  LocalNorm spec;
};

const std::vector<Case> kCases = {
    {Shape{3, 1}, {}},
    {Shape{2, 2, 3}, {.window = 1, .k = 1, .alpha = 0.5, .beta = 0.5}},
    {Shape{2, 7}, {.window = 3, .k = 0.5, .alpha = 0.7, .beta = 1.5}},
    {Shape{3, 2, 17}, {.window = 5, .k = 1, .alpha = 0.3, .beta = 0.75}},
    {Shape{2, 9}, {.window = 129, .k = 2, .alpha = 1, .beta = 1}},
    {Shape{2, 2, 130}, {.window = 5, .k = 2, .alpha = 0.2, .beta = 0.75}},
    {Shape{3, 300}, {.window = 129, .k = 2, .alpha = 0.2, .beta = 0.75}},
    {Shape{4, 96}, {}},
};

Values forward(const Case& c, const Values& x) {
  Lab lab("reference");
  const View y = lab.blank(c.shape);
  lab.device().local_norm(c.spec, y, lab.put(c.shape, x));
  return lab.get(y);
}

}  // namespace

TEST_CASE("local response normalization, by hand") {
  const LocalNorm spec{.window = 3, .k = 1, .alpha = 1, .beta = 2};
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const View x = lab.put(Shape{1, 4}, {1, -1, 2, 0}), y = lab.blank(x.shape);
    lab.device().local_norm(spec, y, x);
    check_close(lab.get(y), {1.0 / 9, -1.0 / 49, 2.0 / 36, 0}, 1e-6);
  }
}

TEST_CASE("reference local normalization has the gradient of its forward") {
  for (const Case& c : kCases) {
    if (c.shape.elements() > 120) continue;
    CAPTURE(c.shape.to_string(), c.spec.window);
    Lab lab("reference");
    const View x = lab.random(c.shape, 1, -2, 2), dy = lab.random(c.shape, 2),
               dx = lab.blank(c.shape);
    lab.device().local_norm_gradient(c.spec, dx, dy, x);
    check_close(lab.get(dx),
                numeric_gradient([&](auto& v) { return forward(c, v); },
                                 lab.get(x), lab.get(dy)),
                1e-8);
  }
}

TEST_CASE("cpu local normalization agrees with the reference") {
  for (const Case& c : kCases) {
    CAPTURE(c.shape.to_string(), c.spec.window);
    check_like_reference([&](Lab& lab) {
      const View x = lab.random(c.shape, 1, -3, 3), dy = lab.random(c.shape, 2),
                 y = lab.blank(c.shape), dx = lab.blank(c.shape);
      lab.device().local_norm(c.spec, y, x);
      lab.device().local_norm_gradient(c.spec, dx, dy, x);
      Values all = lab.get(y);
      for (const double value : lab.get(dx)) all.push_back(value);
      return all;
    });
  }
}

TEST_CASE("local normalization refuses what has no sense, and NaN passes") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    dl::device::Device& d = lab.device();
    const View x = lab.random(Shape{2, 8}, 1), y = lab.blank(x.shape);
    CHECK_THROWS_AS(d.local_norm({.window = 4}, y, x), Error);
    CHECK_THROWS_AS(d.local_norm({.window = 131}, y, x), Error);
    CHECK_THROWS_AS(d.local_norm({.k = 0}, y, x), Error);
    CHECK_THROWS_AS(d.local_norm({}, y, x.reshaped(Shape{4, 4})), Error);
    d.fill(x.at(3, Shape{1}), kNan);
    d.local_norm({}, y, x);
    const Values values = lab.get(y);
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(std::isnan(values[i]) == (1 <= i && i <= 5));
  }
}

}  // namespace dl::device::local_norm_test
