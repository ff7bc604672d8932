// Pooling over steps: by hand, gradients by finite differences, the cpu device
// against the reference.

#include "tests/unit/device/lab.h"

namespace dl::device::pool_steps_test {

using namespace dl::device::test;
using dl::device::PoolSteps;
using dl::device::StepPooling;

namespace {

const std::vector<PoolSteps> kSpecs = {
    {StepPooling::kMax},   {StepPooling::kAverage},  {StepPooling::kSum},
    {StepPooling::kPNorm}, {StepPooling::kPNorm, 1}, {StepPooling::kPNorm, 3},
};
const std::vector<Shape> kShapes = {Shape{1, 1, 1}, Shape{3, 5, 4},
                                    Shape{4, 40, 17}, Shape{3, 7, 300}};

// Padding at the end of the second example, a gap in the third, no step in
// the fourth.
Values mask_of(const Shape& x) {
  Values mask(static_cast<std::size_t>(x[0] * x[1]), 1);
  for (std::int64_t n = 1; n < x[0]; ++n)
    for (std::int64_t s = 0; s < x[1]; ++s)
      if (n == 3 || (n == 1 && s > 2) || (n == 2 && (s == 0 || s == 3)))
        mask[static_cast<std::size_t>(n * x[1] + s)] = 0;
  return mask;
}

struct Arrays {
  Arrays(Lab& lab, const Shape& shape, bool masked)
      : x(lab.random(shape, 1)), dy(lab.random(Shape{shape[0], shape[2]}, 2)) {
    if (masked) mask = lab.put(Shape{shape[0], shape[1]}, mask_of(shape));
  }
  View x, dy, mask;
};

Values forward(const PoolSteps& spec, const Shape& shape, const Values& x,
               bool masked) {
  Lab lab("reference");
  const Arrays a(lab, shape, masked);
  const View y = lab.blank(a.dy.shape);
  lab.device().pool_steps(spec, y, lab.put(shape, x), a.mask);
  return lab.get(y);
}

}  // namespace

TEST_CASE("pooling over steps, by hand") {
  // Two features, three steps, of which the last does not count.
  const Values expected[] = {{3, -2}, {1.5, -4}, {3, -8}, {3, std::sqrt(40)}};
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View x = lab.put(Shape{1, 3, 2}, {0, -6, 3, -2, 100, 100});
    const View mask = lab.put(Shape{1, 3}, {1, 1, 0});
    const View y = lab.blank(Shape{1, 2});
    for (std::size_t k = 0; k < 4; ++k) {
      CAPTURE(name, k);
      lab.device().pool_steps(kSpecs[k], y, x, mask);
      check_close(lab.get(y), expected[k], 1e-6);
    }
    lab.device().fill(mask, 0);
    for (const PoolSteps& spec : kSpecs) {
      lab.device().fill(y, kNan);
      lab.device().pool_steps(spec, y, x, mask);
      CHECK(lab.get(y) == Values{0, 0});
    }
  }
}

TEST_CASE("reference pooling over steps has the gradient of its forward") {
  for (const PoolSteps& spec : kSpecs)
    for (const bool masked : {false, true}) {
      const Shape shape{4, 5, 3};
      CAPTURE(static_cast<int>(spec.kind), spec.p, masked);
      Lab lab("reference");
      const Arrays a(lab, shape, masked);
      const View y = lab.blank(a.dy.shape), dx = lab.blank(shape);
      lab.device().pool_steps(spec, y, a.x, a.mask);
      lab.device().pool_steps_gradient(spec, dx, a.dy, y, a.x, a.mask);
      check_close(lab.get(dx),
                  numeric_gradient(
                      [&](auto& v) { return forward(spec, shape, v, masked); },
                      lab.get(a.x), lab.get(a.dy)),
                  1e-8);
    }
}

TEST_CASE("cpu pooling over steps agrees with the reference") {
  for (const PoolSteps& spec : kSpecs)
    for (const Shape& shape : kShapes)
      for (const bool masked : {false, true}) {
        CAPTURE(static_cast<int>(spec.kind), spec.p, shape.to_string(), masked);
        check_like_reference([&](Lab& lab) {
          const Arrays a(lab, shape, masked);
          // Few values: ties must go the same way, and zeros.
          Values few = random_values(shape.elements(), 5, -3, 3);
          for (double& value : few) value = std::round(value);
          Values all;
          for (const View& x : {a.x, lab.put(shape, few)}) {
            const View y = lab.blank(a.dy.shape), dx = lab.blank(shape);
            lab.device().pool_steps(spec, y, x, a.mask);
            lab.device().pool_steps_gradient(spec, dx, a.dy, y, x, a.mask);
            for (const View& view : {y, dx})
              for (const double value : lab.get(view)) all.push_back(value);
          }
          return all;
        });
      }
}

TEST_CASE("NaN passes through pooling over steps, but not of what is masked") {
  for (const char* name : {tested(), "reference"})
    for (const PoolSteps& spec : kSpecs) {
      CAPTURE(name, static_cast<int>(spec.kind));
      Lab lab(name);
      const View x = lab.put(Shape{1, 3, 2}, {1, 1, kNan, 1, 1, kNan});
      const View y = lab.blank(Shape{1, 2});
      lab.device().pool_steps(spec, y, x, lab.put(Shape{1, 3}, {1, 1, 0}));
      CHECK(std::isnan(lab.get(y)[0]));
      CHECK_FALSE(std::isnan(lab.get(y)[1]));
    }
}

TEST_CASE("pooling over steps refuses what does not fit") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    dl::device::Device& d = lab.device();
    const View x = lab.random(Shape{2, 3, 4}, 1), y = lab.blank(Shape{2, 4});
    CHECK_NOTHROW(d.pool_steps({}, y, x, {}));
    CHECK_THROWS_AS(d.pool_steps({}, x, x, {}), Error);
    CHECK_THROWS_AS(d.pool_steps({}, y, x, y), Error);
    CHECK_THROWS_AS(d.pool_steps({StepPooling::kPNorm, 0.5}, y, x, {}), Error);
    CHECK_THROWS_AS(d.pool_steps_gradient({}, y, y, y, x, {}), Error);
  }
}

}  // namespace dl::device::pool_steps_test
