// Arithmetic on rows, choices, tables and integers: by hand, and the cpu device
// against the reference.

#include "tests/unit/device/lab.h"

namespace dl::device::rows_test {

using namespace dl::device::test;
using dl::tensor::Extreme;

namespace {

// A buffer of integers, which lives as long as this.
struct Integers {
  Integers(Lab& lab, const Shape& shape)
      : buffer(lab.device().allocate(shape, DType::kI32)),
        view(buffer->view()) {}
  Integers(Lab& lab, const Shape& shape, const Values& values)
      : Integers(lab, shape) {
    lab.device().upload(view, tensor_of(shape, values));
  }
  std::unique_ptr<dl::tensor::Buffer> buffer;
  View view;
};

void append(Values& all, const Values& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

TEST_CASE("dots and scales of rows agree with the reference") {
  for (const Shape& shape :
       {Shape{1, 1}, Shape{3, 15}, Shape{4, 16}, Shape{2, 3, 33}, Shape{7, 250},
        Shape{100, 12}, Shape{50, 13}, Shape{0, 4}, Shape{5, 0}}) {
    CAPTURE(shape.to_string());
    const Shape rows{shape.back() == 0 ? 5 : shape.elements() / shape.back()};
    check_like_reference([&](Lab& lab) {
      const View a = lab.random(shape, 1), b = lab.random(shape, 2);
      const View s = lab.blank(rows), y = lab.blank(shape);
      lab.device().dot_rows(s, a, b);
      lab.device().scale_rows(y, a, s, false);
      lab.device().scale_rows(y, b, s, true);
      lab.device().scale_rows(a, a, s, false);
      Values all = lab.get(s);
      append(all, lab.get(y));
      append(all, lab.get(a));
      return all;
    });
  }
}

TEST_CASE("quotients and roots agree with the reference") {
  for (const std::int64_t n : {0, 1, 15, 16, 100}) {
    CAPTURE(n);
    check_like_reference([&](Lab& lab) {
      const View a = lab.random(Shape{n}, 1), b = lab.random(Shape{n}, 2, 1, 2);
      const View y = lab.blank(Shape{n}), z = lab.blank(Shape{n});
      lab.device().divide(y, a, b);
      lab.device().divide(b, a, b);
      Values all = lab.get(y);
      append(all, lab.get(b));
      lab.device().square_root(z, a, 1.5);
      append(all, lab.get(z));
      lab.device().reciprocal(z, z, 0.25);
      append(all, lab.get(z));
      return all;
    });
  }
}

// y_i = x_i / |x_i| and its gradient (dy_i - (dy_i . y_i) y_i) / |x_i|, of the
// primitives that layers have for it.
TEST_CASE("rows are scaled to length 1, with a gradient") {
  const Shape shape{4, 5}, rows{4};
  const auto normalise = [&](Lab& lab, View y, View x, View inverse) {
    lab.device().dot_rows(inverse, x, x);
    lab.device().square_root(inverse, inverse, 1e-6);
    lab.device().reciprocal(inverse, inverse, 0);
    lab.device().scale_rows(y, x, inverse, false);
  };
  const auto forward = [&](const Values& values) {
    Lab lab("reference");
    const View y = lab.blank(shape);
    normalise(lab, y, lab.put(shape, values), lab.blank(rows));
    return lab.get(y);
  };
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const View x = lab.random(shape, 1), dy = lab.random(shape, 2);
    const View y = lab.blank(shape), dx = lab.blank(shape),
               inverse = lab.blank(rows), dot = lab.blank(rows);
    normalise(lab, y, x, inverse);
    lab.device().dot_rows(dot, dy, y);
    lab.device().scale_rows(dx, y, dot, false);
    lab.device().scale(dx, -1);
    lab.device().add(dx, 1, dy);
    lab.device().scale_rows(dx, dx, inverse, false);
    check_close(lab.get(dx), numeric_gradient(forward, lab.get(x), lab.get(dy)),
                2e-6);
  }
}

TEST_CASE("steps are masked") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View y = lab.put(Shape{2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    lab.device().mask_steps(y, lab.put(Shape{2, 2}, {1, 0, 0, 1}));
    CHECK(lab.get(y) == Values{1, 2, 0, 0, 0, 0, 7, 8});
  }
}

TEST_CASE("extremes name the first winner, and NaN wins") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const View inputs[] = {lab.put(Shape{5}, {1, 2, 3, kNan, -kInf}),
                           lab.put(Shape{5}, {2, 2, 1, 4, -kInf}),
                           lab.put(Shape{5}, {2, 5, kNan, kNan, 0})};
    const View y = lab.blank(Shape{5});
    const Integers which(lab, Shape{5});
    lab.device().extreme(y, which.view, inputs, Extreme::kMax);
    CHECK(lab.get(which.view) == Values{1, 2, 2, 0, 2});
    Values values = lab.get(y);
    CHECK(std::isnan(values[2]));
    CHECK(std::isnan(values[3]));
    CHECK(Values{values[0], values[1], values[4]} == Values{2, 5, 0});
    lab.device().extreme(y, which.view, inputs, Extreme::kMin);
    CHECK(lab.get(which.view) == Values{0, 0, 2, 0, 0});
    const View dy = lab.put(Shape{5}, {1, 2, 3, 4, 5}),
               dx = lab.blank(dy.shape);
    lab.device().take_where(dx, dy, which.view, 0);
    CHECK(lab.get(dx) == Values{1, 2, 0, 4, 5});
    lab.device().take_where(dy, dy, which.view, 2);
    CHECK(lab.get(dy) == Values{0, 0, 3, 0, 0});
  }
}

TEST_CASE("extremes of the cpu are those of the reference") {
  for (const std::int64_t n : {1, 15, 16, 17, 333})
    for (const Extreme kind : {Extreme::kMax, Extreme::kMin}) {
      CAPTURE(n);
      const auto run = [&](Lab& lab) {
        const View inputs[] = {lab.random(Shape{n}, 1), lab.random(Shape{n}, 2),
                               lab.random(Shape{n}, 1),
                               lab.random(Shape{n}, 3)};
        const View y = lab.blank(Shape{n});
        const Integers which(lab, Shape{n});
        lab.device().extreme(y, which.view, inputs, kind);
        Values all = lab.get(y);
        append(all, lab.get(which.view));
        return all;
      };
      Lab cpu(tested()), reference("reference");
      CHECK(run(cpu) == run(reference));
    }
}

TEST_CASE("extremes of many inputs are those of the reference") {
  for (const int count : {7, 8, 9, 20}) {
    CAPTURE(count);
    check_like_reference(
        [&](Lab& lab) {
          std::vector<View> inputs;
          for (int k = 0; k < count; ++k) {
            // Few values, so that there are equal ones.
            Values few =
                random_values(50, static_cast<std::uint64_t>(k), -3, 3);
            for (double& value : few) value = std::round(value);
            inputs.push_back(lab.put(Shape{50}, few));
          }
          const View y = lab.blank(Shape{50});
          const Integers which(lab, Shape{50});
          Values all;
          for (const Extreme kind : {Extreme::kMax, Extreme::kMin}) {
            lab.device().extreme(y, which.view, inputs, kind);
            append(all, lab.get(y));
            append(all, lab.get(which.view));
          }
          return all;
        },
        0);
  }
}

TEST_CASE("rows of tables agree with the reference") {
  for (const std::int64_t width : {1, 3, 16, 50}) {
    CAPTURE(width);
    check_like_reference([&](Lab& lab) {
      const View table = lab.random(Shape{4, width}, 1);
      const Integers index(lab, Shape{7}, {3, 0, 2, 2, 3, 1, 2});
      const View y = lab.blank(Shape{7, width});
      lab.device().gather(y, table, index.view);
      Values all = lab.get(y);
      lab.device().scatter_add(table, y, index.view, -1);
      lab.device().scatter_add(table, y, index.view, 2);
      append(all, lab.get(table));
      return all;
    });
  }
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View table = lab.put(Shape{3, 2}, {0, 1, 10, 11, 20, 21});
    const Integers index(lab, Shape{2, 2}, {2, 0, 0, 1});
    const View y = lab.blank(Shape{2, 2, 2});
    lab.device().gather(y, table, index.view);
    CHECK(lab.get(y) == Values{20, 21, 0, 1, 0, 1, 10, 11});
    lab.device().scatter_add(table, y, index.view, 2);
    CHECK(lab.get(table) == Values{0, 3, 20, 22, 20, 21});
  }
}

TEST_CASE("many rows are added to a table in their order") {
  for (const std::int64_t n : {0, 1, 127, 128, 129, 256, 257, 1000})
    for (const std::int64_t rows : {1, 5, 300}) {
      CAPTURE(n, rows);
      const auto run = [&](Lab& lab) {
        Values chosen = random_values(n, 3, 0, static_cast<double>(rows));
        for (double& row : chosen) row = std::floor(row);
        const Integers index(lab, Shape{n}, chosen);
        const View table = lab.random(Shape{rows, 3}, 1);
        lab.device().scatter_add(table, lab.random(Shape{n, 3}, 2), index.view,
                                 2);
        return lab.get(table);
      };
      check_like_reference(run);
      Lab one(tested()), other(tested());
      CHECK(run(one) == run(other));
    }
}

TEST_CASE("integers are uploaded exactly or not at all") {
  // Whether it was taken; what is not is bad data.
  const auto taken = [](Lab& lab, const Tensor& t) {
    try {
      const Integers to(lab, t.shape());
      lab.device().upload(to.view, t);
      const Values got = lab.get(to.view);
      for (std::int64_t i = 0; i < t.elements(); ++i)
        CHECK(got[static_cast<std::size_t>(i)] == t.value(i));
      return true;
    } catch (const Error& e) {
      CHECK(e.code() == Code::kData);
      return false;
    }
  };
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    for (const DType type : {DType::kU8, DType::kI8, DType::kI16, DType::kI32,
                             DType::kI64, DType::kF32, DType::kF64}) {
      Tensor t(type, Shape{3});
      dl::tensor::visit_dtype(type, [&]<typename T>() {
        t.as<T>()[0] = std::numeric_limits<T>::max() > T(100) ? T(100) : T(1);
        t.as<T>()[2] = T(7);
      });
      CHECK(taken(lab, t));
    }
    Tensor exact(DType::kI32, Shape{2});
    exact.as<std::int32_t>()[0] = 2147483647;  // not a float32
    exact.as<std::int32_t>()[1] = -2147483647 - 1;
    CHECK(taken(lab, exact));
    for (const double bad : {0.5, kNan, kInf, 2147483648.0, -2147483649.0})
      CHECK_FALSE(taken(lab, tensor_of(Shape{1}, {bad})));
    Tensor large(DType::kI64, Shape{1});
    large.as<std::int64_t>()[0] = 2147483648;
    CHECK_FALSE(taken(lab, large));
  }
}

TEST_CASE("arithmetic on rows refuses what does not fit") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    dl::device::Device& d = lab.device();
    const View a = lab.random(Shape{2, 3}, 1), s = lab.random(Shape{2}, 2),
               bad = lab.random(Shape{3}, 3);
    const Integers i2(lab, Shape{2}), i6(lab, Shape{6});
    CHECK_NOTHROW(d.dot_rows(s, a, a));
    CHECK_THROWS_AS(d.dot_rows(bad, a, a), Error);
    CHECK_THROWS_AS(d.dot_rows(s, a, bad), Error);
    CHECK_THROWS_AS(d.scale_rows(a, a, bad, false), Error);
    CHECK_THROWS_AS(d.scale_rows(bad, a, s, false), Error);
    CHECK_THROWS_AS(d.divide(a, a, bad), Error);
    const View ones[] = {a};
    CHECK_NOTHROW(d.extreme(a, i6.view, ones, Extreme::kMax));
    CHECK_THROWS_AS(d.extreme(a, i2.view, ones, Extreme::kMax), Error);
    CHECK_THROWS_AS(d.extreme(a, a, ones, Extreme::kMax), Error);
    CHECK_THROWS_AS(d.extreme(a, i6.view, {}, Extreme::kMax), Error);
    CHECK_THROWS_AS(d.take_where(a, a, i2.view, 0), Error);
    CHECK_THROWS_AS(d.gather(a, a, s), Error);
    CHECK_THROWS_AS(d.gather(a, s, i2.view), Error);
    CHECK_NOTHROW(d.gather(a, a.reshaped(Shape{2, 3}), i2.view));
    CHECK_THROWS_AS(d.allocate(Shape{1}, DType::kI64), Error);
    CHECK_THROWS_AS(d.add(a, 1, i6.view), Error);
  }
}

}  // namespace dl::device::rows_test
