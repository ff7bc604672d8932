// Losses: values by hand, gradients by finite differences, the cpu device
// against the reference.

#include "tests/unit/device/lab.h"

using namespace dl::device::test;
using dl::Error;
using dl::tensor::Loss;

namespace {

constexpr Loss kAll[] = {Loss::kNegativeLogLikelihood,
                         Loss::kBinaryCrossEntropy, Loss::kMeanSquaredError,
                         Loss::kMeanAbsoluteError};
constexpr Loss kOfLogits[] = {Loss::kNegativeLogLikelihood,
                              Loss::kBinaryCrossEntropy};
const Shape kShape{4, 5};

double loss_of(const char* name, Loss kind, const Shape& shape, const Values& y,
               const Values& target) {
  Lab lab(name);
  return lab.device().loss(kind, {}, lab.put(shape, y), lab.put(shape, target),
                           {}, 1);
}

double loss_of_logits(const char* name, Loss kind, const Shape& shape,
                      const Values& z, const Values& target) {
  Lab lab(name);
  return lab.device().loss_with_logits(kind, {}, lab.put(shape, z),
                                       lab.put(shape, target), {}, 1);
}

}  // namespace

TEST_CASE("losses, by hand") {
  for (const char* name : {"cpu", "reference"}) {
    CAPTURE(name);
    const double tight = std::string_view(name) == "cpu" ? 1e-6 : 1e-12;
    const Values y = {0.25, 0.75, 0.5, 0.125}, t = {0, 1, 0.5, 0};
    const Shape shape{2, 2};
    // Sums over examples: -ln .75 - .5 ln .5
    CHECK(loss_of(name, Loss::kNegativeLogLikelihood, shape, y, t) ==
          Approx(0.6342556627317536).epsilon(tight));
    // -2 ln .75 - ln .5 - ln .875
    CHECK(loss_of(name, Loss::kBinaryCrossEntropy, shape, y, t) ==
          Approx(1.4020427180880297).epsilon(tight));
    // (.25^2 + .25^2) / 2 + .125^2 / 2
    CHECK(loss_of(name, Loss::kMeanSquaredError, shape, y, t) ==
          Approx(0.0703125).epsilon(tight));
    CHECK(loss_of(name, Loss::kMeanAbsoluteError, shape, y, t) ==
          Approx(0.3125).epsilon(tight));
    // Of logits: ln(1 + e^-1) and ln(1 + e^2) - 2.
    CHECK(loss_of_logits(name, Loss::kNegativeLogLikelihood, Shape{1, 2},
                         {1, 0},
                         {1, 0}) == Approx(0.31326168751822286).epsilon(tight));
    CHECK(loss_of_logits(name, Loss::kBinaryCrossEntropy, Shape{1, 1}, {2},
                         {1}) == Approx(0.12692801104297263).epsilon(tight));
  }
}

TEST_CASE("losses at the ends of their range stay finite") {
  for (const char* name : {"cpu", "reference"}) {
    CAPTURE(name);
    const Shape shape{1, 2};
    const double clip = -std::log(1e-10);
    CHECK(loss_of(name, Loss::kNegativeLogLikelihood, shape, {0, 1}, {1, 0}) ==
          Approx(clip));
    CHECK(loss_of(name, Loss::kBinaryCrossEntropy, shape, {0, 1}, {1, 0}) ==
          Approx(2 * clip));
    for (const double z : {1000.0, -1000.0}) {
      CHECK(loss_of_logits(name, Loss::kNegativeLogLikelihood, shape, {z, 0},
                           {1, 0}) == Approx(std::max(0.0, -z)).margin(1e-12));
      CHECK(loss_of_logits(name, Loss::kBinaryCrossEntropy, shape, {z, z},
                           {1, 1}) ==
            Approx(2 * std::max(0.0, -z)).margin(1e-12));
    }
  }
}

TEST_CASE("reference losses' gradients are those of their values") {
  Lab lab("reference");
  const Values y = random_values(20, 1, 0.1, 0.9),
               z = random_values(20, 2, -3, 3), t = random_values(20, 3, 0, 1);
  const double scale = 0.25;
  for (const Loss kind : kAll) {
    CAPTURE(static_cast<int>(kind));
    const View grad = lab.blank(kShape);
    lab.device().loss(kind, grad, lab.put(kShape, y), lab.put(kShape, t), {},
                      scale);
    check_close(lab.get(grad),
                numeric_gradient(
                    [&](auto& v) {
                      return Values{loss_of("reference", kind, kShape, v, t)};
                    },
                    y, {scale}),
                1e-8);
  }
  for (const Loss kind : kOfLogits) {
    CAPTURE(static_cast<int>(kind));
    const View grad = lab.blank(kShape);
    lab.device().loss_with_logits(kind, grad, lab.put(kShape, z),
                                  lab.put(kShape, t), {}, scale);
    check_close(
        lab.get(grad),
        numeric_gradient(
            [&](auto& v) {
              return Values{loss_of_logits("reference", kind, kShape, v, t)};
            },
            z, {scale}),
        1e-8);
  }
}

TEST_CASE("cpu losses agree with the reference") {
  for (const Shape& shape : {Shape{1, 1}, Shape{4, 10}, Shape{33, 7}})
    for (const bool masked : {false, true}) {
      const auto run = [&](Lab& lab, bool logits, Loss kind) {
        const View y = logits ? lab.random(shape, 1, -8, 8)
                              : lab.random(shape, 1, 0.01, 0.99);
        const View t = lab.random(shape, 2, 0, 1), grad = lab.blank(shape);
        const View mask =
            masked ? lab.random(Shape{shape[0]}, 3, 0, 2) : View{};
        const double sum =
            logits ? lab.device().loss_with_logits(kind, grad, y, t, mask, 0.5)
                   : lab.device().loss(kind, grad, y, t, mask, 0.5);
        Values all = lab.get(grad);
        all.push_back(sum);
        return all;
      };
      for (const Loss kind : kAll)
        check_like_reference([&](Lab& lab) { return run(lab, false, kind); });
      for (const Loss kind : kOfLogits)
        check_like_reference([&](Lab& lab) { return run(lab, true, kind); });
    }
}

TEST_CASE("an example of weight 0 is not looked at, others weigh") {
  for (const char* name : {"cpu", "reference"}) {
    Lab lab(name);
    const Shape shape{2, 2};
    const View y = lab.put(shape, {kNan, kNan, 0.5, 0.5});
    const View t = lab.put(shape, {1, 0, 0, 1});
    const View mask = lab.put(Shape{2}, {0, 3});
    for (const Loss kind : kAll) {
      const View grad = lab.blank(shape);
      const double sum = lab.device().loss(kind, grad, y, t, mask, 1);
      const double alone = lab.device().loss(kind, {}, y.at(2, Shape{1, 2}),
                                             t.at(2, Shape{1, 2}), {}, 1);
      CHECK(sum == Approx(3 * alone));
      CHECK(lab.get(grad)[0] == 0);
      CHECK(lab.device().all_finite(grad));
    }
    for (const Loss kind : kOfLogits) {
      const View grad = lab.blank(shape);
      CHECK(std::isfinite(
          lab.device().loss_with_logits(kind, grad, y, t, mask, 1)));
      CHECK(lab.device().all_finite(grad));
    }
  }
}

TEST_CASE("a NaN output shows in the loss and the gradient") {
  for (const char* name : {"cpu", "reference"})
    for (std::size_t at = 0; at < 3; ++at) {
      Lab lab(name);
      const Shape shape{1, 3};
      Values values = {0.2, 0.3, 0.5};
      values[at] = kNan;
      const View y = lab.put(shape, values), t = lab.put(shape, {0, 1, 0});
      for (const Loss kind : kAll) {
        CAPTURE(name, at, static_cast<int>(kind));
        const View grad = lab.random(shape, 1);
        CHECK(std::isnan(lab.device().loss(kind, grad, y, t, {}, 1)));
        CHECK_FALSE(lab.device().all_finite(grad));
      }
      for (const Loss kind : kOfLogits) {
        CAPTURE(name, at, static_cast<int>(kind));
        const View grad = lab.random(shape, 1);
        CHECK(
            std::isnan(lab.device().loss_with_logits(kind, grad, y, t, {}, 1)));
        CHECK_FALSE(lab.device().all_finite(grad));
      }
    }
}

TEST_CASE("losses refuse what does not fit") {
  for (const char* name : {"cpu", "reference"}) {
    Lab lab(name);
    const View y = lab.random(Shape{2, 3}, 1), t = lab.random(Shape{2, 3}, 2);
    dl::tensor::Device& d = lab.device();
    const Loss mse = Loss::kMeanSquaredError;
    CHECK_THROWS_AS(d.loss(mse, {}, y, lab.random(Shape{3, 2}, 1), {}, 1),
                    Error);
    CHECK_THROWS_AS(d.loss(mse, {}, y, t, lab.random(Shape{3}, 1), 1), Error);
    CHECK_THROWS_AS(d.loss(mse, lab.blank(Shape{2}), y, t, {}, 1), Error);
    CHECK_THROWS_AS(d.loss_with_logits(mse, {}, y, t, {}, 1), Error);
  }
}
