// Pooling: by hand, by finite differences, and the cpu device against the
// reference.

#include "tests/unit/device/lab.h"

namespace dl::device::pool2d_test {

using namespace dl::device::test;
using dl::device::Pool2d;
using dl::device::Pool2dSpec;
using dl::device::Pooling;

namespace {

Shape x_shape(const Pool2dSpec& s, std::int64_t n) {
  return {n, s.height, s.width, s.channels};
}
Shape y_shape(const Pool2dSpec& s, std::int64_t n) {
  return {n, s.out_height(), s.out_width(), s.channels};
}

const std::vector<Pool2dSpec> kSpecs = {
    {.height = 4, .width = 4, .channels = 1},
    {.height = 24, .width = 24, .channels = 20},
    {.height = 32, .width = 32, .channels = 64},
    {.height = 7, .width = 5, .channels = 3},
    {.height = 9,
     .width = 8,
     .channels = 17,
     .kernel = {3, 2},
     .stride = {2, 1}},
    {.height = 8,
     .width = 8,
     .channels = 5,
     .kernel = {3, 3},
     .stride = {1, 1},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.height = 7,
     .width = 7,
     .channels = 4,
     .kernel = {2, 2},
     .stride = {2, 2},
     .pad_end = {1, 1}},
    {.height = 6, .width = 5, .channels = 2, .kernel = {6, 5}},
    {.height = 12,
     .width = 11,
     .channels = 3,
     .kernel = {5, 4},
     .stride = {1, 3},
     .pad_begin = {2, 1},
     .pad_end = {2, 2}},
    {.height = 3,
     .width = 3,
     .channels = 9,
     .kernel = {1, 1},
     .stride = {2, 2}},
    {.height = 9,
     .width = 8,
     .channels = 8,
     .kernel = {3, 2},
     .stride = {2, 1},
     .pad_begin = {1, 0}},
    {.height = 18,
     .width = 18,
     .channels = 12,
     .kernel = {17, 17},
     .stride = {17, 17}},
};

// A kind and what belongs to it.
struct Way {
  Pooling kind;
  double p = 2;
  bool count_padding = false;
  void set(Pool2dSpec& s) const {
    s.kind = kind;
    s.p = p;
    s.count_padding = count_padding;
  }
};
const std::vector<Way> kWays = {
    {Pooling::kMax},      {Pooling::kAverage},    {Pooling::kPNorm},
    {Pooling::kPNorm, 1}, {Pooling::kPNorm, 3.5}, {Pooling::kAverage, 2, true}};

Values forward(const Pool2dSpec& s, const Values& x, std::int64_t n) {
  Lab lab("reference");
  const View y = lab.blank(y_shape(s, n));
  lab.device().pool2d(s, n)->forward(y, lab.put(x_shape(s, n), x), false);
  return lab.get(y);
}

}  // namespace

TEST_CASE("reference pooling, by hand") {
  Pool2dSpec s{.height = 3,
               .width = 3,
               .channels = 1,
               .kernel = {2, 2},
               .stride = {2, 2},
               .pad_end = {1, 1}};
  const Values image = {1, 2, 3, 4, -5, 6, 7, 8, 9};
  check_close(forward(s, image, 1), {4, 6, 8, 9}, 0);
  s.kind = Pooling::kAverage;  // what lies outside does not count
  check_close(forward(s, image, 1), {0.5, 4.5, 7.5, 9}, 1e-12);

  s.count_padding = true;  // or as zeros
  check_close(forward(s, image, 1), {0.5, 2.25, 3.75, 2.25}, 1e-12);
  s.kind = Pooling::kPNorm;
  check_close(forward(s, {3, 0, -4, 4, 0, 3, 0, 0, -2}, 1), {5, 5, 0, 2},
              1e-12);
  s.p = 3;
  check_close(forward(s, {3, 0, -4, -4, 5, 3, 0, 0, -2}, 1),
              {6, std::cbrt(91), 0, 2}, 1e-12);

  // Maxima of negative numbers are not the zeros of the padding.
  s.kind = Pooling::kMax;
  check_close(forward(s, {-1, -2, -3, -4, -5, -6, -7, -8, -9}, 1),
              {-1, -3, -7, -9}, 0);
}

TEST_CASE("reference pooling's gradient is that of its forward") {
  for (Pool2dSpec s : kSpecs)
    for (const Way& way : kWays) {
      if (s.height * s.channels > 200) continue;
      way.set(s);
      CAPTURE(s.height, s.width, s.channels, static_cast<int>(s.kind), s.p);
      Lab lab("reference");
      const View x = lab.random(x_shape(s, 2), 1);
      const View dy = lab.random(y_shape(s, 2), 2);
      const View y = lab.blank(dy.shape), dx = lab.blank(x.shape);
      const auto pool = lab.device().pool2d(s, 2);
      pool->forward(y, x, true);
      pool->backward(dx, dy);
      check_close(lab.get(dx),
                  numeric_gradient([&](auto& v) { return forward(s, v, 2); },
                                   lab.get(x), lab.get(dy)),
                  1e-8);
    }
}

TEST_CASE("pooling agrees with the reference") {
  for (Pool2dSpec s : kSpecs)
    for (const Way& way : kWays) {
      way.set(s);
      Lab cpu(tested()), reference("reference");
      const auto fast = cpu.device().pool2d(s, 4);
      const auto exact = reference.device().pool2d(s, 4);
      for (const std::int64_t n : {4, 1, 3, 4}) {
        CAPTURE(s.height, s.width, s.channels, static_cast<int>(s.kind), s.p,
                n);
        const auto run = [&](Lab& lab, Pool2d& pool) {
          // Few values, as after relu: ties must go the same way.
          Values values = random_values(x_shape(s, n).elements(), 5);
          for (double& value : values)
            value = std::max(0.0, std::round(4 * value));
          const View x = lab.put(x_shape(s, n), values);
          const View dy = lab.random(y_shape(s, n), 2);
          const View y = lab.blank(dy.shape), dx = lab.blank(x.shape),
                     inference = lab.blank(dy.shape);
          pool.forward(y, x, true);
          pool.forward(inference, x, false);
          pool.backward(dx, dy);
          return std::vector<Values>{lab.get(y), lab.get(inference),
                                     lab.get(dx)};
        };
        const auto actual = run(cpu, *fast), expected = run(reference, *exact);
        for (std::size_t i = 0; i < actual.size(); ++i)
          check_close(actual[i], expected[i], 1e-6);
      }
    }
}

TEST_CASE("NaN passes through pooling") {
  for (const char* name : {tested(), "reference"})
    for (const Pooling kind :
         {Pooling::kMax, Pooling::kAverage, Pooling::kPNorm})
      for (std::int64_t at = 0; at < 4 * 17; at += 17) {
        CAPTURE(name, static_cast<int>(kind), at);
        Lab lab(name);
        const Pool2dSpec s{
            .kind = kind, .height = 2, .width = 2, .channels = 17};
        const View x = lab.random(x_shape(s, 1), 1);
        lab.device().fill(x.at(at, Shape{1}), kNan);
        const View y = lab.random(y_shape(s, 1), 1);
        lab.device().pool2d(s, 1)->forward(y, x, true);
        CHECK_FALSE(all_finite(lab.device(), y));
      }
}

TEST_CASE("the first NaN of a window gets its gradient") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const Pool2dSpec s{.height = 2, .width = 4, .channels = 1};
    const View x = lab.put(x_shape(s, 1), {1, kNan, 5, 6, kNan, 4, 7, 7}),
               dy = lab.put(y_shape(s, 1), {2, 3});
    const View y = lab.blank(dy.shape), dx = lab.blank(x.shape);
    const auto pool = lab.device().pool2d(s, 1);
    pool->forward(y, x, true);
    pool->backward(dx, dy);
    CHECK(std::isnan(lab.get(y)[0]));
    CHECK(lab.get(y)[1] == 7);
    CHECK(lab.get(dx) == Values{0, 2, 0, 0, 0, 0, 3, 0});
  }
}

TEST_CASE("pooling refuses what does not fit") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const Pool2dSpec s{.height = 4, .width = 4, .channels = 3};
    const auto pool = lab.device().pool2d(s, 2);
    const View x = lab.random(x_shape(s, 2), 1), y = lab.blank(y_shape(s, 2));
    CHECK_THROWS_AS(pool->forward(x, x, true), Error);
    CHECK_THROWS_AS(pool->backward(x, y), Error);  // before its forward
    const View one = x.at(0, x_shape(s, 1));
    pool->forward(y, x, true);
    CHECK_THROWS_AS(pool->backward(one, y.at(0, y_shape(s, 1))), Error);
    Pool2dSpec wide = s;
    wide.pad_end[0] = 2;  // a window of nothing but padding
    CHECK_THROWS_AS(lab.device().pool2d(wide, 2), Error);
    wide = s;
    wide.p = 0.5;
    CHECK_THROWS_AS(lab.device().pool2d(wide, 2), Error);
  }
}

}  // namespace dl::device::pool2d_test
