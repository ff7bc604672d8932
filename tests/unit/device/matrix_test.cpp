// Matrix product and sums over rows.

#include "libcore/device/cpu/kernels/kernels.h"
#include "tests/unit/device/lab.h"

namespace dl::device::matrix_test {

using namespace dl::device::test;

TEST_CASE("matrix product, by hand") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const View a = lab.put(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
    const View b = lab.put(Shape{3, 2}, {7, 8, 9, 10, 11, 12});
    const View c = lab.blank(Shape{2, 2});
    lab.device().matmul(c, a, false, b, false, 0);
    CHECK(lab.get(c) == Values{58, 64, 139, 154});
    lab.device().matmul(c, a, false, b, false, 2);
    CHECK(lab.get(c) == Values{174, 192, 417, 462});
    const View d = lab.blank(Shape{3, 3});
    lab.device().matmul(d, a, true, b, true, 0);
    CHECK(lab.get(d) == Values{39, 49, 59, 54, 68, 82, 69, 87, 105});
  }
}

TEST_CASE("matrix product agrees with the reference") {
  struct Extents {
    std::int64_t m, n, k;
  };
  const std::vector<Extents> cases = {
      {1, 1, 1},    {1, 10, 200},  {64, 200, 800}, {3, 5, 7},    {33, 1, 17},
      {16, 16, 16}, {50, 10, 1},   {7, 129, 65},   {32, 10, 64}, {2, 1024, 31},
      {250, 40, 3}, {5, 530, 270}, {13, 3, 600}};
  for (const Extents& extents : cases)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const double beta : {0.0, 1.0, -0.5}) {
          const std::int64_t m = extents.m, n = extents.n, k = extents.k;
          CAPTURE(m, n, k, ta, tb, beta);
          check_like_reference(
              [&](Lab& lab) {
                const View a = lab.random(ta ? Shape{k, m} : Shape{m, k}, 1);
                const View b = lab.random(tb ? Shape{n, k} : Shape{k, n}, 2);
                const View c = beta == 0 ? lab.blank(Shape{m, n})
                                         : lab.random(Shape{m, n}, 3);
                lab.device().matmul(c, a, ta, b, tb, beta);
                return lab.get(c);
              },
              4e-6);
        }
}

TEST_CASE("a row of a product does not depend on the others, to the bit") {
  if (dl::device::best_kernels().blas) return;  // gemm.h promises it of ours
  Lab lab("cpu");
  const View a = lab.random(Shape{61, 300}, 1),
             b = lab.random(Shape{75, 300}, 2);
  const View all = lab.blank(Shape{61, 75});
  lab.device().matmul(all, a, false, b, true, 0);
  for (const std::int64_t i : {0, 11, 12, 60}) {
    const View one = lab.blank(Shape{1, 75});
    lab.device().matmul(one, a.at(i * 300, Shape{1, 300}), false, b, true, 0);
    CHECK(lab.get(one) == lab.get(all.at(i * 75, Shape{1, 75})));
  }
}

TEST_CASE("matrix product refuses what does not fit") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View a = lab.random(Shape{2, 3}, 1), b = lab.random(Shape{3, 4}, 2),
               c = lab.random(Shape{2, 4}, 3);
    dl::device::Device& d = lab.device();
    CHECK_NOTHROW(d.matmul(c, a, false, b, false, 0));
    CHECK_THROWS_AS(d.matmul(c, a, true, b, false, 0), Error);
    CHECK_THROWS_AS(d.matmul(c, a, false, b, true, 0), Error);
    CHECK_THROWS_AS(d.matmul(a, a, false, b, false, 0), Error);
    CHECK_THROWS_AS(d.matmul(c.reshaped(Shape{8}), a, false, b, false, 0),
                    Error);
  }
}

TEST_CASE("rows: bias and sums") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View x = lab.put(Shape{2, 1, 3}, {1, 2, 3, 4, 5, 6});
    lab.device().add_bias(x, lab.put(Shape{3}, {10, 20, 30}));
    CHECK(lab.get(x) == Values{11, 22, 33, 14, 25, 36});
    const View s = lab.blank(Shape{3});
    lab.device().sum_rows(s, x);
    CHECK(lab.get(s) == Values{25, 47, 69});
    CHECK_THROWS_AS(lab.device().add_bias(x, lab.random(Shape{2}, 1)), Error);
    CHECK_THROWS_AS(lab.device().sum_rows(lab.blank(Shape{2}), x), Error);
  }
}

TEST_CASE("sums over rows agree with the reference") {
  // Around the strips and blocks that they are made in.
  for (const std::int64_t rows : {0, 1, 31, 32, 33, 1000, 2049})
    for (const std::int64_t length : {1, 3, 20, 64, 127, 128, 129, 300}) {
      CAPTURE(rows, length);
      check_like_reference([&](Lab& lab) {
        const View x = lab.random(Shape{rows, length}, 1, 0, 1);
        const View s = lab.blank(Shape{length});
        lab.device().add_bias(x, lab.random(Shape{length}, 2));
        lab.device().sum_rows(s, x);
        return lab.get(s);
      });
    }
}

TEST_CASE("a dense layer and its gradients, by hand") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const auto layer = lab.device().dense();
    const View x = lab.put(Shape{2, 3}, {1, 2, 3, 4, 5, 6}),
               w = lab.put(Shape{2, 3}, {1, 0, 2, 0, 1, -1}),
               b = lab.put(Shape{2}, {10, 20}),
               dy = lab.put(Shape{2, 2}, {1, 2, 3, -1});
    const View y = lab.blank(Shape{2, 2}), dw = lab.blank(w.shape),
               dx = lab.blank(x.shape);
    layer->forward(y, x, w, b, {});
    CHECK(lab.get(y) == Values{17, 19, 26, 19});
    layer->forward(y, x, w, View{}, {});
    CHECK(lab.get(y) == Values{7, -1, 16, -1});
    layer->backward_weights(dw, x, dy, {});
    CHECK(lab.get(dw) == Values{13, 17, 21, -2, -1, 0});
    layer->backward_data(dx, dy, w, {});
    CHECK(lab.get(dx) == Values{1, 2, 0, 3, -1, 7});
    CHECK_THROWS_AS(layer->backward_data(dx, x, w, {}), Error);
    CHECK_THROWS_AS(layer->backward_weights(w, dy, x, {}), Error);
  }
}

TEST_CASE("a dense layer agrees with the reference, in slices, too") {
  for (const std::int64_t n : {0, 1, 7, 70})
    for (const int slices : {1, 3, 40})
      for (const bool bias : {false, true}) {
        CAPTURE(n, slices, bias);
        const auto run = [&](Lab& lab) {
          const auto layer = lab.device().dense();
          const View x = lab.random(Shape{n, 301}, 1),
                     w = lab.random(Shape{75, 301}, 2),
                     b = bias ? lab.random(Shape{75}, 3) : View{},
                     dy = lab.random(Shape{n, 75}, 4);
          const View y = lab.blank(dy.shape), dw = lab.blank(w.shape),
                     dx = lab.blank(x.shape);
          for (int i = slices; i-- > 0;) {
            layer->forward(y, x, w, b, {i, slices});
            layer->backward_weights(dw, x, dy, {i, slices});
            layer->backward_data(dx, dy, w, {i, slices});
          }
          return std::vector<Values>{lab.get(y), lab.get(dw), lab.get(dx)};
        };
        Lab lab(tested()), reference("reference");
        const auto actual = run(lab), expected = run(reference);
        for (std::size_t i = 0; i < actual.size(); ++i)
          check_close(actual[i], expected[i], 4e-6);
      }
}

// The slices one after the other.
TEST_CASE("slices of a dense layer are those of the whole, to the bit") {
  if (dl::device::best_kernels().blas) return;  // gemm.h promises it of ours
  for (const char* name : {"cpu", "reference"})
    for (const std::int64_t n : {1, 7, 70}) {
      CAPTURE(name, n);
      Lab lab(name);
      const auto layer = lab.device().dense();
      const View x = lab.random(Shape{n, 300}, 1),
                 w = lab.random(Shape{75, 300}, 2),
                 b = lab.random(Shape{75}, 3), dy = lab.random(Shape{n, 75}, 4);
      const auto all = [&](int slices) {
        const View y = lab.blank(dy.shape), dw = lab.blank(w.shape),
                   dx = lab.blank(x.shape);
        for (int i = slices; i-- > 0;) {
          layer->forward(y, x, w, b, {i, slices});
          layer->backward_weights(dw, x, dy, {i, slices});
          layer->backward_data(dx, dy, w, {i, slices});
        }
        return std::vector<Values>{lab.get(y), lab.get(dw), lab.get(dx)};
      };
      const auto whole = all(1);
      for (const int slices : {2, 3, 40}) CHECK(all(slices) == whole);
    }
}

}  // namespace dl::device::matrix_test
