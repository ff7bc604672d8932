// Activations: known values, gradients by finite differences, the cpu device
// against the reference.

#include "tests/unit/device/lab.h"

namespace dl::device::activation_test {

using namespace dl::device::test;
using dl::device::Activation;
using dl::device::ActivationSpec;

namespace {

const std::vector<ActivationSpec> kAll = {
    {Activation::kIdentity},
    {Activation::kRelu},
    {Activation::kLeakyRelu, 0.2},
    {Activation::kElu, 1.0},
    {Activation::kElu, 0.5},
    {Activation::kGelu},
    {Activation::kSigmoid},
    {Activation::kTanh},
    {Activation::kSoftplus},
    {Activation::kSoftmax},
    {Activation::kRelu6},
    {Activation::kCappedRelu, 0.1, 0.5, 2},
    {Activation::kCappedRelu, 0},
    {Activation::kThresholdedRelu, 0, 1.5},
    {Activation::kSelu},
    {Activation::kSwish, 1},
    {Activation::kSwish, 1.702},
    {Activation::kMish},
    {Activation::kSoftsign},
    {Activation::kCube},
    {Activation::kHardSigmoid, 0.2},
    {Activation::kHardTanh},
    {Activation::kRationalTanh},
    {Activation::kRectifiedTanh},
    {Activation::kExp},
    {Activation::kLogSoftmax},
    {.kind = Activation::kGelu, .approximate = true}};

// The slope is one of few numbers, whatever the output.
bool is_in_pieces(Activation kind) {
  switch (kind) {
    case Activation::kRelu:
    case Activation::kLeakyRelu:
    case Activation::kRelu6:
    case Activation::kCappedRelu:
    case Activation::kThresholdedRelu:
    case Activation::kHardSigmoid:
    case Activation::kHardTanh:
      return true;
    default:
      return false;
  }
}

Values apply(const ActivationSpec& f, const Values& x, const Shape& shape) {
  Lab lab("reference");
  const View y = lab.blank(shape);
  lab.device().activate(f, y, lab.put(shape, x));
  return lab.get(y);
}

}  // namespace

TEST_CASE("activations at known points") {
  struct Known {
    ActivationSpec f;
    double x, y;
  };
  const std::vector<Known> known = {
      {{Activation::kIdentity}, -2.5, -2.5},
      {{Activation::kRelu}, -1, 0},
      {{Activation::kRelu}, 3, 3},
      {{Activation::kLeakyRelu, 0.01}, -2, -0.02},
      {{Activation::kElu, 2}, -1, 2 * (0.36787944117144233 - 1)},
      {{Activation::kElu, 2}, 1.5, 1.5},
      {{Activation::kGelu}, 1, 0.8413447460685429},
      {{Activation::kGelu}, -1, -0.15865525393145707},
      {{Activation::kGelu}, 2, 1.9544997361036416},
      {{Activation::kSigmoid}, 0, 0.5},
      {{Activation::kSigmoid}, 2, 0.8807970779778823},
      {{Activation::kSigmoid}, -100, 0},
      {{Activation::kTanh}, 0.5, 0.46211715726000973},
      {{Activation::kTanh}, -50, -1},
      {{Activation::kSoftplus}, 0, 0.6931471805599453},
      {{Activation::kSoftplus}, 100, 100},
      {{Activation::kSoftplus}, -3, 0.04858735157374206},
      // From here on PyTorch's in float64 where it has the function.
      {{Activation::kRelu6}, -1, 0},
      {{Activation::kRelu6}, 2.5, 2.5},
      {{Activation::kRelu6}, 7, 6},
      {{Activation::kCappedRelu, 0.1, 0.5, 2}, -1, -0.15},
      {{Activation::kCappedRelu, 0.1, 0.5, 2}, 0.25, -0.025},
      {{Activation::kCappedRelu, 0.1, 0.5, 2}, 0.5, 0.5},
      {{Activation::kCappedRelu, 0.1, 0.5, 2}, 1.75, 1.75},
      {{Activation::kCappedRelu, 0.1, 0.5, 2}, 3, 2},
      {{Activation::kThresholdedRelu, 0, 1}, 1, 0},
      {{Activation::kThresholdedRelu, 0, 1}, 1.125, 1.125},
      {{Activation::kSelu}, -1, -1.1113307378125625},
      {{Activation::kSelu}, 1.5, 1.5760514810332207},
      {{Activation::kSwish, 1}, -2, -0.2384058440442351},
      {{Activation::kSwish, 1}, 1.5, 1.2263617142904655},
      {{Activation::kMish}, -3, -0.1456474612756246},
      {{Activation::kMish}, 0.5, 0.3752452113048951},
      {{Activation::kMish}, 30, 30},
      {{Activation::kSoftsign}, -3, -0.75},
      {{Activation::kCube}, -2, -8},
      {{Activation::kHardSigmoid, 1.0 / 6}, 1, 2.0 / 3},
      {{Activation::kHardSigmoid, 0.2}, 1, 0.7},
      {{Activation::kHardSigmoid, 0.2}, -4, 0},
      {{Activation::kHardSigmoid, 0.2}, 4, 1},
      {{Activation::kHardTanh}, -2, -1},
      {{Activation::kHardTanh}, 0.25, 0.25},
      {{Activation::kRationalTanh}, 1.5, 1.3273752799193923},
      {{Activation::kRationalTanh}, -1e30, -1.7159},
      {{Activation::kRectifiedTanh}, -1, 0},
      {{Activation::kRectifiedTanh}, 0.5, 0.46211715726000973},
      {{Activation::kExp}, 3, 20.085536923187668},
      {{Activation::kExp}, -200, 0},
      {{Activation::kExp}, 88, 1.6516362549940018e38},
      {{.kind = Activation::kGelu, .approximate = true}, 1, 0.8411919906082768},
      {{.kind = Activation::kGelu, .approximate = true},
       -2,
       -0.04540230591222494}};
  for (const char* name : {tested(), "reference"})
    for (const Known& k : known) {
      CAPTURE(name, static_cast<int>(k.f.kind), k.x);
      Lab lab(name);
      const View x = lab.put(Shape{1}, {k.x});
      lab.device().activate(k.f, x, x);
      check_close(lab.get(x), {k.y}, name == tested() ? 1e-6 : 1e-12);
    }
}

TEST_CASE("softmax is over the last dimension, and stable") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const View x = lab.put(Shape{3, 2}, {0, 0, 1000, 1000, -1000, 0});
    lab.device().activate({Activation::kSoftmax}, x, x);
    check_close(lab.get(x), {0.5, 0.5, 0.5, 0.5, 0, 1}, 1e-7);
  }
}

TEST_CASE("log_softmax is the logarithm of softmax, and stable") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const View x = lab.put(Shape{2, 3}, {0, 1, 3, -1000, 1000, 1000});
    lab.device().activate({Activation::kLogSoftmax}, x, x);
    check_close(lab.get(x),
                {-3.1698460195562856, -2.1698460195562856, -0.16984601955628567,
                 -2000.6931471805599, -0.6931471805599453, -0.6931471805599453},
                1e-7);
  }
}

TEST_CASE("exp beyond float32 is infinite") {
  Lab lab(tested());
  const View x = lab.put(Shape{3}, {88.8, 1000, kInf});
  lab.device().activate({Activation::kExp}, x, x);
  CHECK(lab.get(x) == Values{kInf, kInf, kInf});
}

TEST_CASE("reference activations' gradients are those of their values") {
  const Shape shape{6, 5};
  for (const ActivationSpec& f : kAll) {
    CAPTURE(static_cast<int>(f.kind));
    Lab lab("reference");
    const View x = lab.random(shape, 1, -3, 3), dy = lab.random(shape, 2);
    const View y = lab.blank(shape), dx = lab.blank(shape);
    lab.device().activate(f, y, x);
    lab.device().activate_gradient(f, dx, dy, y, x);
    check_close(lab.get(dx),
                numeric_gradient([&](auto& v) { return apply(f, v, shape); },
                                 lab.get(x), lab.get(dy)),
                1e-8);
  }
}

TEST_CASE("cpu activations agree with the reference") {
  for (const ActivationSpec& f : kAll)
    for (const double range : {0.01, 1.0, 10.0, 90.0})
      for (const Shape& shape :
           {Shape{1}, Shape{3, 10}, Shape{2, 3, 33}, Shape{5, 1}, Shape{0, 4},
            Shape{70, 5}, Shape{3, 1000}}) {
        CAPTURE(static_cast<int>(f.kind), range, shape.to_string());
        if (f.kind == Activation::kExp && range > 80) continue;  // infinite
        check_like_reference(
            [&](Lab& lab) {
              const View x = lab.random(shape, 1, -range, range);
              lab.device().activate(f, x, x);  // in place
              return lab.get(x);
            },
            1e-6, 1);
        check_like_reference(
            [&](Lab& lab) {
              const View x = lab.random(shape, 1, -range, range);
              const View y = lab.blank(shape), dx = lab.random(shape, 2);
              lab.device().activate(f, y, x);
              lab.device().activate_gradient(f, dx, dx, y, x);  // in place
              return lab.get(dx);
            },
            1e-6, 1);
      }
}

TEST_CASE("a gradient with its sum agrees with the reference") {
  const Shape shapes[] = {{3000, 8}, {500, 4, 24}, {700, 5}, {2, 64}};
  for (const Shape& shape : shapes) {
    CAPTURE(shape.to_string());
    Lab lab(tested()), reference("reference");
    const ActivationSpec relu{Activation::kRelu};
    const Shape columns{shape.back()};
    const View x = lab.random(shape, 1), dy = lab.random(shape, 2),
               y = lab.blank(shape), s = lab.blank(columns);
    lab.device().activate(relu, y, x);
    if (!lab.device().activate_gradient_and_sum(relu, dy, dy, y, s)) continue;
    const View exact_x = reference.random(shape, 1),
               exact_dy = reference.random(shape, 2),
               want = reference.blank(columns);
    reference.device().activate_gradient(relu, exact_dy, exact_dy, exact_x, {});
    reference.device().sum_rows(want, exact_dy);
    check_close(lab.get(dy), reference.get(exact_dy), 1e-6);
    check_close(lab.get(s), reference.get(want), 1e-5);
    CHECK_FALSE(lab.device().activate_gradient_and_sum({Activation::kTanh}, dy,
                                                       dy, y, s));
  }
}

TEST_CASE("small values keep their digits") {
  // Relative, where a sum with 1 would lose them.
  for (const Activation kind :
       {Activation::kTanh, Activation::kElu, Activation::kSelu,
        Activation::kMish, Activation::kSwish, Activation::kRationalTanh})
    for (const double x : {-1e-6, -1e-3, -0.1, -0.29, -0.31, -12.0}) {
      Lab cpu(tested()), reference("reference");
      const View v = cpu.put(Shape{1}, {static_cast<float>(x)});
      const View w = reference.put(Shape{1}, {static_cast<float>(x)});
      cpu.device().activate({kind, 1.0}, v, v);
      reference.device().activate({kind, 1.0}, w, w);
      CAPTURE(static_cast<int>(kind), x);
      CHECK(cpu.get(v)[0] == Approx(reference.get(w)[0]).epsilon(5e-7));
    }
}

TEST_CASE("activations keep NaN") {
  for (const char* name : {tested(), "reference"})
    for (const ActivationSpec& f : kAll) {
      CAPTURE(name, static_cast<int>(f.kind));
      Lab lab(name);
      const View x = lab.random(Shape{1, 40}, 1);
      lab.device().fill(x.at(21, Shape{1}), kNan);
      lab.device().activate(f, x, x);
      CHECK(std::isnan(lab.get(x)[21]));
      if (is_in_pieces(f.kind)) continue;
      const View dy = lab.random(Shape{1, 40}, 2);
      lab.device().activate_gradient(f, dy, dy, x, x);
      CHECK(std::isnan(lab.get(dy)[21]) != (f.kind == Activation::kIdentity));
    }
}

TEST_CASE("only some activations need their input again") {
  for (const char* name : {tested(), "reference"})
    for (const ActivationSpec& f : kAll) {
      Lab lab(name);
      const View y = lab.random(Shape{2, 3}, 1), dx = lab.blank(y.shape);
      if (gradient_needs_input(f.kind)) {
        CHECK_THROWS_AS(lab.device().activate_gradient(f, dx, y, y, {}), Error);
      } else {
        CHECK_NOTHROW(lab.device().activate_gradient(f, dx, y, y, {}));
      }
    }
}

}  // namespace dl::device::activation_test
