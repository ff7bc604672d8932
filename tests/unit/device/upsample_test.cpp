// Bilinear upsampling: by hand, its gradient as the adjoint, the cpu device
// against the reference.

#include "tests/unit/device/lab.h"

namespace dl::device::upsample_test {

using namespace dl::device::test;

namespace {

struct Case {
  Shape x;
  std::int64_t up, across;
  Shape y() const { return {x[0], x[1] * up, x[2] * across, x[3]}; }
};

const std::vector<Case> kCases = {
    {Shape{1, 1, 1, 1}, 3, 2},  {Shape{2, 3, 4, 5}, 2, 2},
    {Shape{2, 4, 3, 17}, 3, 1}, {Shape{1, 5, 6, 3}, 1, 4},
    {Shape{3, 2, 7, 33}, 5, 3},
};

}  // namespace

TEST_CASE("bilinear upsampling, by hand") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const View x = lab.put(Shape{1, 2, 2, 1}, {1, 2, 3, 4});
    const View y = lab.blank(Shape{1, 4, 4, 1});
    lab.device().upsample_bilinear(y, x);
    check_close(lab.get(y),
                {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5,
                 3, 3.25, 3.75, 4},
                1e-6);
    const View wide = lab.blank(Shape{1, 2, 6, 1});
    lab.device().upsample_bilinear(wide, x);
    const double t = 1.0 / 3;
    check_close(lab.get(wide),
                {1, 1, 1 + t, 2 - t, 2, 2, 3, 3, 3 + t, 4 - t, 4, 4}, 1e-6);
  }
}

TEST_CASE("the gradient of upsampling is its adjoint") {
  for (const Case& c : kCases) {
    CAPTURE(c.x.to_string(), c.up, c.across);
    Lab lab("reference");
    const View x = lab.random(c.x, 1), dy = lab.random(c.y(), 2);
    const View y = lab.blank(c.y()), dx = lab.blank(c.x);
    lab.device().upsample_bilinear(y, x);
    lab.device().upsample_bilinear_gradient(dx, dy);
    const auto dot = [&](const View& a, const View& b) {
      const Values p = lab.get(a), q = lab.get(b);
      double sum = 0;
      for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] * q[i];
      return sum;
    };
    CHECK(dot(y, dy) == Approx(dot(x, dx)).margin(1e-9));
  }
}

TEST_CASE("cpu upsampling agrees with the reference") {
  for (const Case& c : kCases) {
    CAPTURE(c.x.to_string(), c.up, c.across);
    check_like_reference([&](Lab& lab) {
      const View x = lab.random(c.x, 1), dy = lab.random(c.y(), 2);
      const View y = lab.blank(c.y()), dx = lab.blank(c.x);
      lab.device().upsample_bilinear(y, x);
      lab.device().upsample_bilinear_gradient(dx, dy);
      Values all = lab.get(y);
      for (const double value : lab.get(dx)) all.push_back(value);
      return all;
    });
  }
}

TEST_CASE("upsampling refuses what is no whole factor") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View x = lab.random(Shape{1, 2, 2, 1}, 1);
    for (const Shape& shape : {Shape{1, 3, 4, 1}, Shape{1, 1, 2, 1},
                               Shape{1, 4, 4, 2}, Shape{2, 4, 4, 1}})
      CHECK_THROWS_AS(lab.device().upsample_bilinear(lab.blank(shape), x),
                      Error);
  }
}

}  // namespace dl::device::upsample_test
