// Rectifiers with learnt slopes: by hand, gradients by finite differences, the
// cpu device against the reference.

#include "tests/unit/device/lab.h"

namespace dl::device::prelu_test {

using namespace dl::device::test;

namespace {

struct Case {
  Shape shape;
  std::int64_t k;
};
const std::vector<Case> kCases = {
    {Shape{1, 1}, 1},        {Shape{3, 50}, 1},    {Shape{4, 3, 7}, 7},
    {Shape{2, 5, 9}, 45},    {Shape{3, 200}, 200}, {Shape{70, 128}, 128},
    {Shape{5, 3, 300}, 300}, {Shape{5000, 1}, 1},  {Shape{3000, 3}, 3},

};

Values forward(const Case& c, const Values& x, const Values& slope) {
  Lab lab("reference");
  const View y = lab.blank(c.shape);
  lab.device().prelu(y, lab.put(c.shape, x), lab.put(Shape{c.k}, slope));
  return lab.get(y);
}

}  // namespace

TEST_CASE("learnt slopes, by hand") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const View x = lab.put(Shape{2, 2}, {-1, -2, 3, -4});
    const View slope = lab.put(Shape{2}, {0.5, 2}), y = lab.blank(x.shape);
    lab.device().prelu(y, x, slope);
    CHECK(lab.get(y) == Values{-0.5, -4, 3, -8});
    const View dy = lab.put(Shape{2, 2}, {1, 10, 100, 1000});
    const View dslope = lab.blank(slope.shape);
    lab.device().prelu_gradient(dy, dslope, dy, x, slope);
    CHECK(lab.get(dy) == Values{0.5, 20, 100, 2000});
    CHECK(lab.get(dslope) == Values{-1, -4020});
    lab.device().fill(x, kNan);
    lab.device().prelu(y, x, slope);
    for (const double value : lab.get(y)) CHECK(std::isnan(value));
  }
}

TEST_CASE("reference slopes have the gradients of their forward") {
  for (const Case& c : kCases) {
    if (c.shape.elements() > 100) continue;
    CAPTURE(c.shape.to_string(), c.k);
    Lab lab("reference");
    const View x = lab.random(c.shape, 1), dy = lab.random(c.shape, 2),
               slope = lab.random(Shape{c.k}, 3), dx = lab.blank(c.shape),
               dslope = lab.blank(slope.shape);
    lab.device().prelu_gradient(dx, dslope, dy, x, slope);
    const Values vx = lab.get(x), vs = lab.get(slope), weights = lab.get(dy);
    check_close(lab.get(dx),
                numeric_gradient([&](auto& v) { return forward(c, v, vs); }, vx,
                                 weights),
                1e-8);
    check_close(lab.get(dslope),
                numeric_gradient([&](auto& v) { return forward(c, vx, v); }, vs,
                                 weights),
                1e-8);
  }
}

TEST_CASE("cpu slopes agree with the reference") {
  for (const Case& c : kCases) {
    CAPTURE(c.shape.to_string(), c.k);
    check_like_reference([&](Lab& lab) {
      const View x = lab.random(c.shape, 1), dy = lab.random(c.shape, 2),
                 slope = lab.random(Shape{c.k}, 3), y = lab.blank(c.shape),
                 dx = lab.blank(c.shape), dslope = lab.blank(slope.shape),
                 alone = lab.blank(slope.shape);
      lab.device().fill(x.at(0, Shape{1}), 0);
      lab.device().prelu(y, x, slope);
      lab.device().prelu_gradient({}, alone, dy, x, slope);
      lab.device().prelu_gradient(dx, dslope, dy, x, slope);
      Values all = lab.get(y);
      for (const View& view : {dx, dslope, alone})
        for (const double value : lab.get(view)) all.push_back(value);
      return all;
    });
  }
}

TEST_CASE("slopes that do not fit are refused") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    dl::device::Device& d = lab.device();
    const View x = lab.random(Shape{2, 3}, 1), bad = lab.random(Shape{4}, 2),
               slope = lab.random(Shape{3}, 3);
    CHECK_THROWS_AS(d.prelu(x, x, bad), Error);
    CHECK_THROWS_AS(d.prelu(bad, x, slope), Error);
    CHECK_THROWS_AS(d.prelu_gradient(x, bad, x, x, slope), Error);
    CHECK_THROWS_AS(d.prelu_gradient(bad, slope, x, x, slope), Error);
  }
}

}  // namespace dl::device::prelu_test
