// Normalization by groups: by hand, gradients by finite differences, the cpu
// device against the reference.

#include "tests/unit/device/lab.h"

namespace dl::device::group_norm_test {

using namespace dl::device::test;

namespace {

constexpr double kEpsilon = 1e-3;

struct Case {
  std::int64_t n, s, c, g;
  Shape shape() const { return {n, s, c}; }
  Shape statistics() const { return {n, g, 2}; }
};

// Layer norm, instance norm and between; rows longer than a strip.
const std::vector<Case> kCases = {
    {3, 1, 5, 1},    {2, 1, 40, 1}, {4, 1, 300, 1}, {2, 7, 6, 6},
    {2, 5, 6, 2},    {3, 9, 6, 3},  {2, 4, 64, 4},  {1, 3, 260, 130},
    {2, 3, 150, 50}, {2, 1, 12, 4}, {2, 6, 7, 1},   {2, 50, 3, 3},
    {2, 700, 16, 2}, {1, 1, 1, 1},  {3, 35, 20, 5}, {2, 600, 1, 1},
};

Values normalise(const Case& c, const Values& x, const Values& gamma,
                 const Values& beta) {
  Lab lab("reference");
  const View y = lab.blank(c.shape()), has = lab.blank(c.statistics());
  lab.device().group_norm(y, has, lab.put(c.shape(), x),
                          lab.put(Shape{c.c}, gamma), lab.put(Shape{c.c}, beta),
                          kEpsilon);
  return lab.get(y);
}

}  // namespace

TEST_CASE("normalization by groups, by hand") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    // One example of two positions and two groups of two channels.
    const View x = lab.put(Shape{1, 2, 4}, {1, 2, 10, 10, 3, 4, 10, 10});
    const View y = lab.blank(x.shape), has = lab.blank(Shape{1, 2, 2});
    lab.device().group_norm(y, has, x, lab.put(Shape{4}, {1, 2, 3, 4}),
                            lab.put(Shape{4}, {0, 0, 5, 6}), 0.75);
    const double r = 1 / std::sqrt(1.25 + 0.75);
    check_close(lab.get(has), {2.5, r, 10, 1 / std::sqrt(0.75)}, 1e-6);
    check_close(lab.get(y), {-1.5 * r, -1 * r, 5, 6, 0.5 * r, 3 * r, 5, 6},
                1e-6);
    // Without gamma and beta.
    lab.device().group_norm(y, has, x, {}, {}, 0.75);
    check_close(lab.get(y), {-1.5 * r, -0.5 * r, 0, 0, 0.5 * r, 1.5 * r, 0, 0},
                1e-6);
  }
}

TEST_CASE(
    "reference normalization by groups has the gradients of its forward") {
  for (const Case& c : kCases) {
    if (c.shape().elements() > 150) continue;
    CAPTURE(c.n, c.s, c.c, c.g);
    Lab lab("reference");
    const Shape channels{c.c};
    const View x = lab.random(c.shape(), 1), dy = lab.random(c.shape(), 2),
               gamma = lab.random(channels, 3), beta = lab.random(channels, 4);
    const View y = lab.blank(c.shape()), has = lab.blank(c.statistics()),
               dx = lab.blank(c.shape()), dgamma = lab.blank(channels),
               dbeta = lab.blank(channels);
    lab.device().group_norm(y, has, x, gamma, beta, kEpsilon);
    lab.device().group_norm_gradient(dx, dgamma, dbeta, dy, x, gamma, has);
    const Values vx = lab.get(x), vg = lab.get(gamma), vb = lab.get(beta),
                 slope = lab.get(dy);
    check_close(
        lab.get(dx),
        numeric_gradient([&](auto& v) { return normalise(c, v, vg, vb); }, vx,
                         slope),
        1e-6);
    check_close(
        lab.get(dgamma),
        numeric_gradient([&](auto& v) { return normalise(c, vx, v, vb); }, vg,
                         slope),
        1e-8);
    check_close(
        lab.get(dbeta),
        numeric_gradient([&](auto& v) { return normalise(c, vx, vg, v); }, vb,
                         slope),
        1e-8);
  }
}

TEST_CASE("cpu normalization by groups agrees with the reference") {
  for (const Case& c : kCases)
    for (const bool parameters : {true, false}) {
      CAPTURE(c.n, c.s, c.c, c.g, parameters);
      check_like_reference(
          [&](Lab& lab) {
            const Shape channels{c.c};
            // Far from zero: the mean must be taken off before squaring.
            const View x = lab.random(c.shape(), 1, 10, 12);
            const View dy = lab.random(c.shape(), 2);
            const View gamma = lab.random(channels, 3, 0.5, 2),
                       beta = lab.random(channels, 4);
            const View y = lab.blank(c.shape()),
                       has = lab.blank(c.statistics()),
                       dx = lab.blank(c.shape()), dgamma = lab.blank(channels),
                       dbeta = lab.blank(channels);
            lab.device().group_norm(y, has, x, parameters ? gamma : View{},
                                    parameters ? beta : View{}, kEpsilon);
            lab.device().group_norm_gradient(dx, parameters ? dgamma : View{},
                                             dbeta, dy, x,
                                             parameters ? gamma : View{}, has);
            Values all = lab.get(y);
            for (const View& view : {has, dx, dbeta, dgamma})
              if (parameters || view.data != dgamma.data)
                for (const double value : lab.get(view)) all.push_back(value);
            lab.device().group_norm(x, has, x, {}, beta, kEpsilon);  // in place
            for (const double value : lab.get(x)) all.push_back(value);
            return all;
          },
          5e-6);
    }
}

TEST_CASE("equal values have no variance, and NaN stays in its group") {
  for (const char* name : {tested(), "reference"})
    for (const Case& c : kCases) {
      CAPTURE(name, c.n, c.s, c.c, c.g);
      Lab lab(name);
      // The cpu adds some of them in float.
      const double same = std::string_view(name) == "cpu" ? 1.25 : 123456.75;
      Values values(static_cast<std::size_t>(c.shape().elements()), same);
      const View y = lab.blank(c.shape()), has = lab.blank(c.statistics());
      lab.device().group_norm(y, has, lab.put(c.shape(), values), {}, {}, 0.25);
      check_close(lab.get(y), Values(values.size(), 0), 1e-6, 1);
      Values expected;
      for (std::int64_t i = 0; i < c.n * c.g; ++i)
        expected.insert(expected.end(), {same, 2});
      check_close(lab.get(has), expected, 1e-12, 1);
      values.back() = kNan;
      lab.device().group_norm(y, has, lab.put(c.shape(), values), {}, {}, 0.25);
      const Values results = lab.get(y);
      for (std::int64_t i = 0; i < c.shape().elements(); ++i) {
        const bool last =
            i / (c.s * c.c) == c.n - 1 && i % c.c >= c.c - c.c / c.g;
        if (std::isnan(results[static_cast<std::size_t>(i)]) != last)
          FAIL("element " << i);
      }
    }
}

TEST_CASE("an example is normalized alike in every batch") {
  for (const Case& c : kCases) {
    CAPTURE(c.n, c.s, c.c, c.g);
    Lab lab(tested());
    const View x = lab.random(c.shape(), 1);
    const View y = lab.blank(c.shape()), has = lab.blank(c.statistics());
    lab.device().group_norm(y, has, x, {}, {}, kEpsilon);
    const Shape one{1, c.s, c.c};
    const std::int64_t last = (c.n - 1) * c.s * c.c;
    const View alone = lab.blank(one);
    lab.device().group_norm(alone, lab.blank(Shape{1, c.g, 2}), x.at(last, one),
                            {}, {}, kEpsilon);
    CHECK(lab.get(alone) == lab.get(y.at(last, one)));
  }
}

TEST_CASE("normalization by groups refuses what does not fit") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    dl::device::Device& d = lab.device();
    const View x = lab.random(Shape{2, 3, 4}, 1), c = lab.random(Shape{4}, 2),
               has = lab.blank(Shape{2, 2, 2}), bad = lab.random(Shape{3}, 3);
    CHECK_NOTHROW(d.group_norm(x, has, x, c, c, 1));
    CHECK_THROWS_AS(d.group_norm(x, has, x, bad, c, 1), Error);
    CHECK_THROWS_AS(d.group_norm(x, lab.blank(Shape{2, 3, 2}), x, c, c, 1),
                    Error);
    CHECK_THROWS_AS(d.group_norm(x, lab.blank(Shape{1, 2, 2}), x, c, c, 1),
                    Error);
    CHECK_THROWS_AS(d.group_norm(c, has, x, c, c, 1), Error);
    CHECK_THROWS_AS(d.group_norm_gradient(x, bad, {}, x, x, c, has), Error);
    CHECK_THROWS_AS(d.group_norm_gradient(c, {}, {}, x, x, c, has), Error);
  }
}

}  // namespace dl::device::group_norm_test
