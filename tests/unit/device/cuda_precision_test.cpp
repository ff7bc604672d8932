// Products of the cuda device in each precision, beside the float64 reference:
// off by what rounding their factors explains, and off indeed.
#ifdef DL_EMULATED

#include <functional>
#include <string>

#include "tests/unit/device/convolutions.h"
#include "tests/unit/device/lab.h"

namespace dl::device::cuda_precision_test {

using namespace dl::device::test;
using dl::device::AttentionSpec;
using dl::device::Cell;
using dl::device::Conv2dSpec;
using dl::device::Conv3dSpec;
using dl::device::RecurrentSpec;

namespace {

const char* gpu() {
  return std::string_view(tested()) == "cpu" ? "emulated" : tested();
}

// GPUs before Ampere have float32 alone.
bool has_all() {
  return Lab(gpu()).device().capabilities().training.has(Precision::kBfloat16);
}

// A GPU may multiply in full what it does not gain by, such as a matrix and a
// vector; the emulation rounds whatever it is told to.
bool rounds_always() { return std::string_view(gpu()) == "emulated"; }

// By how much a product of two factors is off, which TF32 may cut off, and a
// convolution's result that is rounded once more.
double rounding_of(Precision precision) {
  return precision == Precision::kTf32 ? 2 * 0x1p-10 : 3 * 0x1p-8;
}

// The largest element of |actual - expected| / magnitude.  NaN is the largest.
double worst(const Values& actual, const Values& expected,
             const Values& magnitude) {
  REQUIRE(actual.size() == expected.size());
  REQUIRE(actual.size() == magnitude.size());
  double most = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double off = std::abs(actual[i] - expected[i]);
    if (!(off <= most * magnitude[i])) most = off / magnitude[i];
  }
  return most;
}

// Factors of sums of products, or their magnitudes, whose sums bound the
// rounding errors of the others.
struct Inputs {
  Lab& lab;
  bool magnitudes;
  View operator()(const Shape& shape, std::uint64_t seed) const {
    Values values = random_values(shape.elements(), seed);
    if (magnitudes)
      for (double& value : values) value = std::abs(value);
    return lab.put(shape, values);
  }
};
using Sums = std::function<Values(Lab&, const Inputs&)>;

double off_in(Precision precision, const Sums& f) {
  Lab lab(gpu(), precision), reference("reference");
  return worst(f(lab, {lab, false}), f(reference, {reference, false}),
               f(reference, {reference, true}));
}

void check_precisions(const Sums& f) {
  if (!has_all()) return;
  const double full = off_in(Precision::kFloat32, f),
               tf32 = off_in(Precision::kTf32, f),
               bfloat16 = off_in(Precision::kBfloat16, f);
  CAPTURE(full, tf32, bfloat16);
  CHECK(full < 2e-6);
  if (rounds_always()) CHECK(tf32 > 20 * full);
  CHECK(tf32 < 1.01 * rounding_of(Precision::kTf32));
  CHECK(bfloat16 > 2 * tf32);
  CHECK(bfloat16 < 1.01 * rounding_of(Precision::kBfloat16));
}

// Checks values that are not sums of products: off by a few of them.
void check_layer(const std::function<Values(Lab&)>& f, double few) {
  if (!has_all()) return;
  const auto off = [&](Precision precision) {
    Lab lab(gpu(), precision), reference("reference");
    const Values expected = f(reference);
    double scale = 1e-3;
    for (const double value : expected)
      scale = std::max(scale, std::abs(value));
    return worst(f(lab), expected, Values(expected.size(), scale));
  };
  const double full = off(Precision::kFloat32), tf32 = off(Precision::kTf32),
               bfloat16 = off(Precision::kBfloat16);
  CAPTURE(full, tf32, bfloat16);
  CHECK(full < 4e-6);
  if (rounds_always()) CHECK(tf32 > 4 * full);
  CHECK(tf32 < few * rounding_of(Precision::kTf32));
  CHECK(bfloat16 > 2 * tf32);
  CHECK(bfloat16 < few * rounding_of(Precision::kBfloat16));
}

void append(Values& all, const Values& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

TEST_CASE("matrix products in each precision") {
  struct Extents {
    std::int64_t m, n, k;
  };
  for (const Extents e : {Extents{16, 24, 32}, {13, 7, 29}, {1, 33, 65}})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        CAPTURE(e.m, e.n, e.k, ta, tb);
        check_precisions([&](Lab& lab, const Inputs& random) {
          const View a = random(ta ? Shape{e.k, e.m} : Shape{e.m, e.k}, 1),
                     b = random(tb ? Shape{e.n, e.k} : Shape{e.k, e.n}, 2),
                     c = lab.blank(Shape{e.m, e.n});
          lab.device().matmul(c, a, ta, b, tb, 0);
          return lab.get(c);
        });
      }
}

TEST_CASE("exact products are float32's in every precision") {
  const auto exact = [](Lab& lab, const Inputs& random) {
    const View a = random(Shape{9, 17}, 1), b = random(Shape{5, 17}, 2),
               c = lab.blank(Shape{9, 5});
    lab.device().exact_matmul(c, a, false, b, true);
    return lab.get(c);
  };
  CHECK(off_in(Precision::kFloat32, exact) < 2e-6);
  if (!has_all()) return;
  CHECK(off_in(Precision::kTf32, exact) < 2e-6);
  CHECK(off_in(Precision::kBfloat16, exact) < 2e-6);
}

TEST_CASE("dense layers in each precision") {
  check_precisions([](Lab& lab, const Inputs& random) {
    const auto layer = lab.device().dense();
    const View x = random(Shape{9, 40}, 1), w = random(Shape{21, 40}, 2),
               b = random(Shape{21}, 3), dy = random(Shape{9, 21}, 4);
    const View y = lab.blank(dy.shape), dw = lab.blank(w.shape),
               dx = lab.blank(x.shape);
    layer->forward(y, x, w, b, {});
    layer->backward_weights(dw, x, dy, {});
    layer->backward_data(dx, dy, w, {});
    Values all = lab.get(y);
    append(all, lab.get(dw));
    append(all, lab.get(dx));
    return all;
  });
}

TEST_CASE("convolutions in each precision") {
  const auto check = [](auto spec, const Shape& x_shape, const Shape& w_shape,
                        const Shape& y_shape, auto make) {
    check_precisions([&](Lab& lab, const Inputs& random) {
      const auto conv = make(lab.device(), spec);
      const View x = random(x_shape, 1), w = random(w_shape, 2),
                 b = random(Shape{spec.filters}, 3), dy = random(y_shape, 4);
      const View y = lab.blank(y_shape), dw = lab.blank(w_shape),
                 dx = lab.blank(x_shape);
      conv->forward(y, x, w, b);
      Values all = lab.get(y);
      conv->forward(y, x, w, {});
      conv->backward_weights(dw, {}, x, dy);
      conv->backward_data(dx, dy, w);
      for (const View& view : {y, dw, dx}) append(all, lab.get(view));
      return all;
    });
  };
  const Conv2dSpec images{.height = 6,
                          .width = 5,
                          .channels = 16,
                          .filters = 8,
                          .kernel = {3, 3},
                          .pad_begin = {1, 1},
                          .pad_end = {1, 1},
                          .groups = 2};
  check(images, Shape{2, 6, 5, 16}, w_shape(images), Shape{2, 6, 5, 8},
        [](Device& d, const Conv2dSpec& s) { return d.conv2d(s, 2); });
  const Conv3dSpec volumes{.depth = 3,
                           .height = 4,
                           .width = 3,
                           .channels = 8,
                           .filters = 8,
                           .kernel = {2, 2, 2}};
  check(volumes, Shape{2, 3, 4, 3, 8}, Shape{8, 2, 2, 2, 8},
        Shape{2, 2, 3, 2, 8},
        [](Device& d, const Conv3dSpec& s) { return d.conv3d(s, 2); });
}

TEST_CASE("attention in each precision") {
  check_layer(
      [](Lab& lab) {
        AttentionSpec s;
        s.queries = s.keys = 11;
        s.heads = 2;
        s.head_size = 6;
        const auto attention = lab.device().attention(s, 3);
        const Shape shape{3, 11, 12};
        const View q = lab.random(shape, 1), k = lab.random(shape, 2),
                   v = lab.random(shape, 3), dy = lab.random(shape, 4);
        const View y = lab.blank(shape), dq = lab.blank(shape),
                   dk = lab.blank(shape), dv = lab.blank(shape);
        attention->forward(y, q, k, v, {}, true);
        attention->backward(dq, dk, dv, dy, q, k, v, {});
        Values all;
        for (const View& view : {y, dq, dk, dv}) append(all, lab.get(view));
        return all;
      },
      4);
}

TEST_CASE("recurrent layers in each precision") {
  struct Case {
    Cell cell;
    bool reset_before;
  };
  for (const Case c : {Case{Cell::kSimple, false},
                       {Cell::kLstm, false},
                       {Cell::kGru, false},
                       {Cell::kGru, true}}) {
    CAPTURE(static_cast<int>(c.cell), c.reset_before);
    check_layer(
        [&](Lab& lab) {
          const RecurrentSpec s{.cell = c.cell,
                                .steps = 4,
                                .inputs = 9,
                                .units = 7,
                                .reset_before = c.reset_before};
          const auto layer = lab.device().recurrent(s, 3);
          const std::int64_t rows = s.gates() * s.units;
          const View x = lab.random(Shape{3, 4, 9}, 1),
                     dy = lab.random(Shape{3, 4, 7}, 2);
          const dl::device::RecurrentWeights w{
              lab.random(Shape{rows, 9}, 3, -0.5, 0.5),
              lab.random(Shape{rows, 7}, 4, -0.5, 0.5),
              lab.random(Shape{s.biases()}, 5)},
              gradient{lab.blank(Shape{rows, 9}), lab.blank(Shape{rows, 7}),
                       lab.blank(Shape{s.biases()})};
          const View y = lab.blank(dy.shape), dx = lab.blank(x.shape);
          layer->forward(y, x, {}, w, {});
          layer->backward(dx, false, dy, x, {}, w, gradient);
          Values all;
          for (const View& view :
               {y, dx, gradient.input, gradient.recurrent, gradient.bias})
            append(all, lab.get(view));
          return all;
        },
        4);
  }
}

#endif  // DL_EMULATED

}  // namespace dl::device::cuda_precision_test
