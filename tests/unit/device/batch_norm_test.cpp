// Batch normalization: the whole layer's gradient by finite differences on the
// reference, each primitive of the cpu device against it.

#include "tests/unit/device/lab.h"

namespace dl::device::batch_norm_test {

using namespace dl::device::test;

namespace {

constexpr double kEpsilon = 1e-5;

// Mean and variance of x over its rows, as a layer makes them.
struct Statistics {
  Statistics(Lab& lab, View x)
      : mean(lab.blank(Shape{x.shape.back()})),
        variance(lab.blank(Shape{x.shape.back()})),
        count(static_cast<double>(x.elements()) /
              static_cast<double>(x.shape.back())) {
    lab.device().sum_rows(mean, x);
    lab.device().scale(mean, 1 / count);
    lab.device().sum_squares_about(variance, x, mean);
    lab.device().scale(variance, 1 / count);
  }
  View mean, variance;
  double count;
};

Values normalise(const Shape& shape, const Values& x, const Values& gamma,
                 const Values& beta, bool relu) {
  Lab lab("reference");
  const View in = lab.put(shape, x), y = lab.blank(shape);
  const Shape c{shape.back()};
  const Statistics s(lab, in);
  lab.device().batch_norm(
      {s.mean, s.variance, lab.put(c, gamma), lab.put(c, beta), kEpsilon, relu},
      y, in);
  return lab.get(y);
}

}  // namespace

TEST_CASE("batch normalization, by hand") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View x = lab.put(Shape{3, 2}, {1, 10, 2, 10, 3, 10});
    const Statistics s(lab, x);
    check_close(lab.get(s.mean), {2, 10}, 1e-6);
    check_close(lab.get(s.variance), {2.0 / 3, 0}, 1e-6);
    const View y = lab.blank(x.shape);
    dl::device::BatchNorm spec{s.mean, s.variance, lab.put(Shape{2}, {2, 3}),
                               lab.put(Shape{2}, {5, 7}), 0.25};
    lab.device().batch_norm(spec, y, x);
    const double off = 2 / std::sqrt(2.0 / 3 + 0.25);
    check_close(lab.get(y), {5 - off, 7, 5, 7, 5 + off, 7}, 1e-6);
    spec.beta = lab.put(Shape{2}, {1, -7});
    spec.relu = true;
    lab.device().batch_norm(spec, y, x);
    check_close(lab.get(y), {0, 0, 1, 0, 1 + off, 0}, 1e-6);
  }
}

TEST_CASE("reference batch normalization's gradients") {
  const bool relu = GENERATE(false, true);
  const Shape shape{3, 2, 2, 4};
  Lab lab("reference");
  const View x = lab.random(shape, 1), dy = lab.random(shape, 2);
  const View gamma = lab.random(Shape{4}, 3, 0.5, 2),
             beta = lab.random(Shape{4}, 4);
  const Statistics s(lab, x);
  const View dgamma = lab.blank(Shape{4}), dbeta = lab.blank(Shape{4}),
             dx = lab.blank(shape);
  const dl::device::BatchNorm spec{s.mean, s.variance, gamma,
                                   beta,   kEpsilon,   relu};
  lab.device().batch_norm_sums(spec, dgamma, dbeta, dy, x);
  lab.device().batch_norm_gradient(spec, dx, dy, x, dbeta, dgamma, s.count);
  const Values vx = lab.get(x), vg = lab.get(gamma), vb = lab.get(beta),
               weights = lab.get(dy);
  check_close(lab.get(dx),
              numeric_gradient(
                  [&](auto& v) { return normalise(shape, v, vg, vb, relu); },
                  vx, weights),
              1e-7);
  check_close(lab.get(dgamma),
              numeric_gradient(
                  [&](auto& v) { return normalise(shape, vx, v, vb, relu); },
                  vg, weights),
              1e-8);
  check_close(lab.get(dbeta),
              numeric_gradient(
                  [&](auto& v) { return normalise(shape, vx, vg, v, relu); },
                  vb, weights),
              1e-8);
}

TEST_CASE("cpu batch normalization agrees with the reference") {
  const bool relu = GENERATE(false, true);
  for (const Shape& shape :
       {Shape{2, 1}, Shape{40, 3}, Shape{2, 5, 7, 20}, Shape{9, 128},
        Shape{3, 129}, Shape{5, 2, 300}, Shape{1, 1}, Shape{1300, 2},
        Shape{700, 40}, Shape{3001, 8}, Shape{90, 64}, Shape{130, 264},
        Shape{0, 3}, Shape{3, 0}}) {
    CAPTURE(shape.to_string());
    const Shape c{shape.back()};
    check_like_reference(
        [&](Lab& lab) {
          // Far from zero: the mean must be taken off before squaring.
          const View x = lab.random(shape, 1, 10, 12);
          const View dy = lab.random(shape, 2);
          const View gamma = lab.random(c, 3, 0.5, 2), beta = lab.random(c, 4);
          const View mean = lab.random(c, 5, 10.9, 11.1),
                     variance = lab.random(c, 6, 0.2, 0.4);
          const View s = lab.blank(c), dgamma = lab.blank(c),
                     dbeta = lab.blank(c), y = lab.blank(shape),
                     dx = lab.blank(shape);
          lab.device().sum_squares_about(s, x, mean);
          const dl::device::BatchNorm spec{mean, variance, gamma,
                                           beta, kEpsilon, relu};
          lab.device().batch_norm(spec, y, x);
          dl::device::BatchNorm with_sum = spec;
          with_sum.added = dy;
          const View sum = lab.blank(shape);
          lab.device().batch_norm(with_sum, sum, x);
          lab.device().batch_norm_sums(spec, dgamma, dbeta, dy, x);
          lab.device().batch_norm_gradient(spec, dx, dy, x, dbeta, dgamma, 17);
          Values all = lab.get(y);
          for (const View& view : {s, dgamma, dbeta, dx, sum})
            for (const double value : lab.get(view)) all.push_back(value);
          return all;
        },
        3e-6);
  }
}

TEST_CASE("statistics in one pass agree with the reference") {
  for (const Shape& shape : {Shape{2, 1}, Shape{40, 3}, Shape{2, 5, 7, 20},
                             Shape{3001, 8}, Shape{700, 40}, Shape{1, 1}})
    for (const double low : {-1.0, 1000.0}) {
      CAPTURE(shape.to_string(), low);
      if (halves() && low > 100) continue;  // all of them were equal
      const Shape c{shape.back()};
      Lab lab(tested()), reference("reference");
      struct Arrays {
        Arrays(Lab& lab, const Shape& shape, const Shape& c, double low)
            : x(lab.random(shape, 1, low, low + 2)),
              running_mean(lab.random(c, 2)),
              running_variance(lab.random(c, 3, 0.5, 2)),
              mean(lab.blank(c)),
              variance(lab.blank(c)) {}
        View x, running_mean, running_variance, mean, variance;
      } a(lab, shape, c, low), want(reference, shape, c, low);
      if (!lab.device().batch_statistics(
              {a.mean, a.variance, a.running_mean, a.running_variance, 0.9},
              a.x))
        return;  // this device does not
      dl::device::Device& r = reference.device();
      const double count =
          static_cast<double>(shape.elements()) / static_cast<double>(c[0]);
      r.sum_rows(want.mean, want.x);
      r.scale(want.mean, 1 / count);
      r.sum_squares_about(want.variance, want.x, want.mean);
      r.scale(want.variance, 1 / count);
      const auto move = [&](View running, View now) {
        r.scale(running, 0.9);
        r.add(running, 1 - 0.9, now);
      };
      move(want.running_mean, want.mean);
      move(want.running_variance, want.variance);
      // Limits by the precision that float32 has for x.
      const double most = low > 100 ? 3e-4 : 3e-6;
      check_close(lab.get(a.mean), reference.get(want.mean), most);
      check_close(lab.get(a.variance), reference.get(want.variance), most);
      check_close(lab.get(a.running_mean), reference.get(want.running_mean),
                  most);
      check_close(lab.get(a.running_variance),
                  reference.get(want.running_variance), most);
      const Values before = lab.get(a.running_mean);
      CHECK(lab.device().batch_statistics({a.mean, a.variance, {}, {}, 0.9},
                                          a.x));
      CHECK(lab.get(a.running_mean) == before);
    }
}

TEST_CASE("batch normalization refuses what does not fit") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View x = lab.random(Shape{2, 3}, 1), c = lab.random(Shape{3}, 2),
               bad = lab.random(Shape{2}, 3);
    dl::device::Device& d = lab.device();
    CHECK_NOTHROW(d.batch_norm({c, c, c, c}, x, x));
    CHECK_THROWS_AS(d.batch_norm({bad, c, c, c}, x, x), Error);
    CHECK_THROWS_AS(d.batch_norm({c, c, c, c}, c, x), Error);
    CHECK_THROWS_AS(d.sum_squares_about(bad, x, c), Error);
    CHECK_THROWS_AS(d.batch_norm_sums({c, c, c, c}, c, bad, x, x), Error);
    CHECK_THROWS_AS(d.batch_norm_gradient({c, c, c, c}, x, c, x, c, c, 2),
                    Error);
  }
}

}  // namespace dl::device::batch_norm_test
