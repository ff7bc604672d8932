// Losses: values by hand and of PyTorch, gradients by finite differences, the
// cpu device against the reference.

#include "tests/unit/device/lab.h"

namespace dl::device::loss_test {

using namespace dl::device::test;
using dl::device::Loss;
using dl::device::LossSpec;

namespace {

// Each loss with numbers that are not the defaults, too.
const std::vector<LossSpec> kAll = {
    {Loss::kNegativeLogLikelihood},
    {Loss::kBinaryCrossEntropy},
    {.kind = Loss::kBinaryCrossEntropy, .positive = 3, .negative = 0.5},
    {Loss::kMeanSquaredError},
    {Loss::kMeanAbsoluteError},
    {Loss::kL1},
    {Loss::kL2},
    {Loss::kHuber},
    {.kind = Loss::kHuber, .delta = 0.3},
    {Loss::kLogCosh},
    {Loss::kMeanAbsolutePercentageError},
    {Loss::kMeanSquaredLogarithmicError},
    {Loss::kKlDivergence},
    {Loss::kPoisson},
    {Loss::kHinge},
    {Loss::kSquaredHinge},
    {Loss::kCategoricalHinge},
    {Loss::kCosineProximity},
    {Loss::kWasserstein},
    {Loss::kExponential},
    {Loss::kMultiLabel}};
const std::vector<LossSpec> kOfLogits = {
    {Loss::kNegativeLogLikelihood},
    {.kind = Loss::kNegativeLogLikelihood, .smoothing = 0.1},
    {Loss::kBinaryCrossEntropy},
    {.kind = Loss::kBinaryCrossEntropy,
     .positive = 3,
     .negative = 0.5,
     .smoothing = 0.1},
    {Loss::kKlDivergence},
    {Loss::kPoisson},
    {Loss::kExponential},
    {Loss::kFocal},
    {.kind = Loss::kFocal, .gamma = 0},
    {.kind = Loss::kFocal, .gamma = 0.5, .positive = 0.25, .smoothing = 0.1},
    {Loss::kBinaryFocal},
    {.kind = Loss::kBinaryFocal,
     .gamma = 1.5,
     .positive = 0.25,
     .negative = 0.75}};
const Shape kShape{4, 5};
// None, few and many of examples and of outputs.
const Shape kShapes[] = {{1, 1},  {4, 10},  {33, 7},   {0, 3},
                         {3, 70}, {2, 500}, {9001, 1}, {2100, 5}};

bool takes_one_output(const LossSpec& f) {
  return f.kind != Loss::kCategoricalHinge;
}

bool takes_weights(const LossSpec& f) {
  return f.kind != Loss::kCategoricalHinge &&
         f.kind != Loss::kCosineProximity && f.kind != Loss::kMultiLabel;
}

// Some losses take either side of 0 for a class.
double least_target(const LossSpec& f) {
  return f.kind == Loss::kHinge || f.kind == Loss::kSquaredHinge ||
                 f.kind == Loss::kMultiLabel
             ? -1
             : 0;
}

// The sum over examples.
double sum_of(Device& device, const LossSpec& f, View grad, View y, View target,
              View mask, double scale) {
  return number_of(device,
                   [&](View sum) {
                     device.loss(sum, f, grad, y, target, mask, scale);
                   }) /
         scale;
}

double sum_of_logits(Device& device, const LossSpec& f, View grad, View z,
                     View target, View mask, double scale) {
  return number_of(device,
                   [&](View sum) {
                     device.loss_with_logits(sum, f, grad, z, target, mask,
                                             scale);
                   }) /
         scale;
}

double loss_of(const char* name, const LossSpec& f, const Shape& shape,
               const Values& y, const Values& target,
               const Values& weights = {}) {
  Lab lab(name);
  LossSpec weighted = f;
  if (!weights.empty()) weighted.weights = lab.put(Shape{shape[1]}, weights);
  return sum_of(lab.device(), weighted, {}, lab.put(shape, y),
                lab.put(shape, target), {}, 1);
}

double loss_of_logits(const char* name, const LossSpec& f, const Shape& shape,
                      const Values& z, const Values& target,
                      const Values& weights = {}) {
  Lab lab(name);
  LossSpec weighted = f;
  if (!weights.empty()) weighted.weights = lab.put(Shape{shape[1]}, weights);
  return sum_of_logits(lab.device(), weighted, {}, lab.put(shape, z),
                       lab.put(shape, target), {}, 1);
}

}  // namespace

TEST_CASE("losses, by hand") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    const double tight = name == tested() ? 1e-6 : 1e-12;
    const Values y = {0.25, 0.75, 0.5, 0.125}, t = {0, 1, 0.5, 0};
    const Shape shape{2, 2};
    // Sums over examples: -ln .75 - .5 ln .5
    CHECK(loss_of(name, {Loss::kNegativeLogLikelihood}, shape, y, t) ==
          Approx(0.6342556627317536).epsilon(tight));
    // -2 ln .75 - ln .5 - ln .875
    CHECK(loss_of(name, {Loss::kBinaryCrossEntropy}, shape, y, t) ==
          Approx(1.4020427180880297).epsilon(tight));
    // (.25^2 + .25^2) / 2 + .125^2 / 2
    CHECK(loss_of(name, {Loss::kMeanSquaredError}, shape, y, t) ==
          Approx(0.0703125).epsilon(tight));
    CHECK(loss_of(name, {Loss::kMeanAbsoluteError}, shape, y, t) ==
          Approx(0.3125).epsilon(tight));
    // Losses of logits: ln(1 + e^-1) and ln(1 + e^2) - 2.
    CHECK(loss_of_logits(name, {Loss::kNegativeLogLikelihood}, Shape{1, 2},
                         {1, 0},
                         {1, 0}) == Approx(0.31326168751822286).epsilon(tight));
    CHECK(loss_of_logits(name, {Loss::kBinaryCrossEntropy}, Shape{1, 1}, {2},
                         {1}) == Approx(0.12692801104297263).epsilon(tight));
  }
}

TEST_CASE("losses at the ends of their range stay finite") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    const Shape shape{1, 2};
    const double clip = -std::log(1e-10);
    CHECK(loss_of(name, {Loss::kNegativeLogLikelihood}, shape, {0, 1},
                  {1, 0}) == Approx(clip));
    CHECK(loss_of(name, {Loss::kBinaryCrossEntropy}, shape, {0, 1}, {1, 0}) ==
          Approx(2 * clip));
    for (const double z : {1000.0, -1000.0}) {
      CHECK(loss_of_logits(name, {Loss::kNegativeLogLikelihood}, shape, {z, 0},
                           {1, 0}) == Approx(std::max(0.0, -z)).margin(1e-12));
      CHECK(loss_of_logits(name, {Loss::kBinaryCrossEntropy}, shape, {z, z},
                           {1, 1}) ==
            Approx(2 * std::max(0.0, -z)).margin(1e-12));
      CHECK(loss_of_logits(name, {Loss::kFocal}, shape, {z, 0}, {1, 0}) ==
            Approx(std::max(0.0, -z)).margin(1e-12));
      CHECK(loss_of_logits(name, {Loss::kBinaryFocal}, shape, {z, z}, {1, 1}) ==
            Approx(2 * std::max(0.0, -z)).margin(1e-12));
      CHECK(loss_of_logits(name, {Loss::kKlDivergence}, shape, {z, 0},
                           {1, 0}) == Approx(std::max(0.0, -z)).margin(1e-12));
      for (const LossSpec& f : kOfLogits) {
        if (activation_inside(f.kind) == dl::device::Activation::kExp)
          continue;  // exp(1000)
        Lab lab(name);
        const View grad = lab.blank(shape);
        sum_of_logits(lab.device(), f, grad, lab.put(shape, {z, 0}),
                      lab.put(shape, {1, 0}), {}, 1);
        CAPTURE(static_cast<int>(f.kind), z);
        CHECK(all_finite(lab.device(), grad));
      }
    }
  }
}

TEST_CASE("losses of PyTorch and their gradients") {
  // Made by PyTorch 2 in float64.
  const Shape shape{2, 3};
  const Values y = {0.25, 0.75, 2.5, -0.5, 0.125, 1}, t = {1, 0.5, 1, 0, 0, 3};
  const Values classes = {0, 0, 1, 1, 0, 0}, soft = {.2, .3, .5, 1, 0, 0};
  const Values labels = {1, 0, 1, 0, 0, 1}, weights = {2, 1, 0.5};
  struct Known {
    LossSpec f;
    bool logits;
    Values target, weights;
    double loss;
    Values slopes;
  };
  const Known known[] = {
      {{.kind = Loss::kHuber, .delta = 0.75},
       false,
       t,
       {},
       0.8359375,
       {-0.25, 0.08333333333333333, 0.25, -0.16666666666666666,
        0.041666666666666664, -0.25}},
      {{Loss::kPoisson},
       true,
       t,
       {},
       13.916480335242396,
       {0.2840254166877414, 1.6170000166126748, 11.182493960703473,
        0.6065306597126334, 1.1331484530668263, -0.2817181715409549}},
      {{Loss::kCosineProximity},
       false,
       t,
       {},
       -1.683441046593549,
       {-0.22536388473077634, -0.04044992802860088, 0.03467136688165795,
        -0.3511659807956104, 0.0877914951989026, -0.18655692729766804}},
      {{.kind = Loss::kNegativeLogLikelihood, .smoothing = 0.2},
       true,
       classes,
       weights,
       4.137869842203044,
       {-0.0811489662032438, 0.019370809418736583, 0.061778156784507154,
        -1.4838980218092936, 0.39933984572896775, 1.084558176080326}},
      {{.kind = Loss::kNegativeLogLikelihood, .smoothing = 0.2},
       true,
       soft,
       weights,
       5.366506848621338,
       {-0.3714862733082456, -0.17172367785903417, 0.5432099511672798,
        -1.4838980218092936, 0.39933984572896775, 1.084558176080326}},
      {{Loss::kKlDivergence},
       true,
       soft,
       {},
       2.1862523660794393,
       {-0.11760363084722705, -0.16415135354936328, 0.2817549843965903,
        -0.8639443755323419, 0.25418537039761874, 0.6097590051347233}},
      {{Loss::kExponential},
       true,
       t,
       {},
       6.325707381580138,
       {0.22119921692859507, 0.7638167236294927, 0.9179150013761013, 1, 1,
        -0.10363832351432702}},
      {{.kind = Loss::kFocal, .gamma = 1.5},
       true,
       classes,
       {},
       1.6268888682913787,
       {0.019514475435471912, 0.03217393073701768, -0.05168840617248961,
        -1.020666227473104, 0.300295285703702, 0.720370941769402}},
      {{.kind = Loss::kBinaryFocal, .positive = 0.25, .negative = 0.75},
       true,
       labels,
       {},
       0.6377099525986952,
       {-0.05201409478121608, 0.48733824393285274, -0.0003188962321657229,
        0.10345274801318578, 0.26275225512979433, -0.013145282494390155}},
      {{.kind = Loss::kBinaryCrossEntropy, .positive = 3},
       true,
       labels,
       {},
       5.272819550681024,
       {-1.313470497342606, 0.679178699175393, -0.22757454006373035,
        0.3775406687981454, 0.5312093733737563, -0.8068242641099852}},
      {{Loss::kHinge}, false, labels, {}, 4.125, {-1, 1, 0, 1, 1, 0}},
      {{Loss::kSquaredHinge},
       false,
       labels,
       {},
       5.140625,
       {-1.5, 3.5, 0, 1, 2.25, 0}}};
  for (const char* name : {tested(), "reference"})
    for (const Known& k : known) {
      CAPTURE(name, static_cast<int>(k.f.kind));
      Lab lab(name);
      LossSpec f = k.f;
      if (!k.weights.empty()) f.weights = lab.put(Shape{3}, k.weights);
      const View at = lab.put(shape, y), target = lab.put(shape, k.target);
      const View grad = lab.blank(shape);
      dl::device::Device& d = lab.device();
      const double loss = k.logits
                              ? sum_of_logits(d, f, grad, at, target, {}, 1)
                              : sum_of(d, f, grad, at, target, {}, 1);
      const double tight = name == tested() ? 1e-6 : 1e-12;
      CHECK(loss == Approx(k.loss).epsilon(tight));
      check_close(lab.get(grad), k.slopes, tight);
    }
}

TEST_CASE("losses that PyTorch has not, by hand") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    const double tight = name == tested() ? 1e-6 : 1e-12;
    const auto check = [&](Loss kind, const Values& y, const Values& t,
                           double expected) {
      CAPTURE(static_cast<int>(kind));
      const Shape shape{1, static_cast<std::int64_t>(y.size())};
      CHECK(loss_of(name, {kind}, shape, y, t) ==
            Approx(expected).epsilon(tight).margin(1e-12));
    };
    check(Loss::kL1, {1, -2}, {3, 0.5}, 4.5);
    check(Loss::kL2, {1, -2}, {3, 0.5}, 10.25);
    check(Loss::kLogCosh, {1, 0}, {0, 0}, std::log(std::cosh(1)) / 2);
    check(Loss::kLogCosh, {1e4, 1}, {0, 1}, (1e4 - std::log(2)) / 2);
    check(Loss::kMeanAbsolutePercentageError, {1, 3}, {2, -4},
          (50.0 + 175.0) / 2);
    check(Loss::kMeanSquaredLogarithmicError, {1, 3}, {0, 1},
          (std::log(2) * std::log(2) + std::log(2) * std::log(2)) / 2);
    // An output below 0 counts as 0.
    check(Loss::kMeanSquaredLogarithmicError, {-5}, {1},
          std::log(2) * std::log(2));
    check(Loss::kKlDivergence, {0.25, 0.75}, {0.5, 0.5},
          0.5 * std::log(2) + 0.5 * std::log(2.0 / 3));
    check(Loss::kPoisson, {2, 1}, {3, 0}, 3 - 3 * std::log(2));
    check(Loss::kCategoricalHinge, {0.5, 2, -1}, {1, 0, 0}, 2.5);
    check(Loss::kCategoricalHinge, {0.5, 2, -1}, {0, 1, 0}, 0);
    check(Loss::kWasserstein, {0.5, 2}, {1, -1}, -0.75);
    check(Loss::kMultiLabel, {1, 0, -1}, {1, 0, 1},
          (std::exp(-1) + std::exp(1)) / 2);
    check(Loss::kMultiLabel, {1, 0, -1}, {1, 1, 1}, 0);
    check(Loss::kMultiLabel, {1, 0, -1}, {0, 0, 0}, 0);
    check(Loss::kMultiLabel, {800, 0}, {1, 0}, 0);
    check(Loss::kCosineProximity, {0, 0}, {1, 2}, 0);
    check(Loss::kCosineProximity, {1, 2}, {0, 0}, 0);
  }
}

// Values of y or z, targets and weights for finite differences.
void check_gradient(const LossSpec& f, bool logits, bool weighted) {
  CAPTURE(static_cast<int>(f.kind), logits, weighted);
  const double scale = 0.25;
  Lab lab("reference");
  const Values at =
      logits ? random_values(20, 2, -3, 3) : random_values(20, 1, 0.1, 0.9);
  const Values t = random_values(20, 3, least_target(f), 1);
  const Values weights = weighted ? random_values(5, 4, 0.25, 4) : Values{};
  LossSpec of = f;
  if (weighted) of.weights = lab.put(Shape{5}, weights);
  const View grad = lab.blank(kShape);
  const View y = lab.put(kShape, at), target = lab.put(kShape, t);
  if (logits)
    sum_of_logits(lab.device(), of, grad, y, target, {}, scale);
  else
    sum_of(lab.device(), of, grad, y, target, {}, scale);
  check_close(lab.get(grad),
              numeric_gradient(
                  [&](auto& v) {
                    return Values{(logits ? loss_of_logits : loss_of)(
                        "reference", f, kShape, v, t, weights)};
                  },
                  at, {scale}),
              1e-8);
}

TEST_CASE("reference losses' gradients are those of their values") {
  for (const LossSpec& f : kAll) check_gradient(f, false, false);
  for (const LossSpec& f : kOfLogits) check_gradient(f, true, false);
}

TEST_CASE("reference losses' gradients with weights of outputs") {
  for (const LossSpec& f : kAll)
    if (takes_weights(f)) check_gradient(f, false, true);
  for (const LossSpec& f : kOfLogits) check_gradient(f, true, true);
}

TEST_CASE("cpu losses agree with the reference") {
  for (const Shape& shape : kShapes)
    for (const bool masked : {false, true}) {
      const auto run = [&](Lab& lab, bool logits, LossSpec f) {
        const View y = logits ? lab.random(shape, 1, -8, 8)
                              : lab.random(shape, 1, 0.01, 0.99);
        const View t = lab.random(shape, 2, least_target(f), 1);
        const View grad = lab.blank(shape);
        const View mask =
            masked ? lab.random(Shape{shape[0]}, 3, 0, 2) : View{};
        if (masked && takes_weights(f))
          f.weights = lab.random(Shape{shape[1]}, 4, 0, 2);
        const double sum =
            logits ? sum_of_logits(lab.device(), f, grad, y, t, mask, 0.5)
                   : sum_of(lab.device(), f, grad, y, t, mask, 0.5);
        Values all = lab.get(grad);
        all.push_back(sum);
        return all;
      };
      for (const LossSpec& f : kAll) {
        CAPTURE(static_cast<int>(f.kind), shape.to_string(), masked);
        if (shape[1] > 1 || takes_one_output(f))
          check_like_reference([&](Lab& lab) { return run(lab, false, f); });
      }
      for (const LossSpec& f : kOfLogits) {
        CAPTURE(static_cast<int>(f.kind), shape.to_string(), masked);
        check_like_reference([&](Lab& lab) { return run(lab, true, f); });
      }
    }
}

// Means and logarithms of variances of two targets, in two examples, and what
// PyTorch's gaussian_nll_loss() (float64, full) makes of them.
const Values kNormal = {0.25, 0.75, -0.5, 0.125, 1.5, -2, 0.3, -1.25},
             kNormalTargets = {1, 0.5, 0, -3};

TEST_CASE("the likelihood of normal numbers is PyTorch's") {
  const struct {
    Values weights;
    double loss;
    Values slopes;
  } known[] = {{{},
                6.083126995406724,
                {-1.2365409530250961, 0.22062422564614884, 0.03629714261558901,
                 0.47242197179423134, 1.1112273310225769, 3.4903429574618414,
                 -0.3334204982669325, -1.2451714787309207}},
               {{2, 0.5},
                7.594064130794394,
                {-2.4730819060501923, 0.11031211282307442, 0.07259428523117802,
                 0.23621098589711567, 2.2224546620451537, 1.7451714787309207,
                 -0.666840996533865, -0.6225857393654604}}};
  for (const char* name : {tested(), "reference"})
    for (const auto& [weights, loss, slopes] : known) {
      Lab lab(name);
      LossSpec f{Loss::kGaussian};
      if (!weights.empty()) f.weights = lab.put(Shape{2}, weights);
      const View y = lab.put(Shape{2, 4}, kNormal),
                 t = lab.put(Shape{2, 2}, kNormalTargets),
                 grad = lab.blank(Shape{2, 4}),
                 mask = lab.put(Shape{2}, {0, 3});
      const double tight = name == tested() ? 1e-6 : 1e-12;
      dl::device::Device& d = lab.device();
      CHECK(sum_of(d, f, grad, y, t, {}, 1) == Approx(loss).epsilon(tight));
      check_close(lab.get(grad), slopes, tight);
      // One that does not count, and NaN that shows.
      const double second =
          sum_of(d, f, {}, y.at(4, Shape{1, 4}), t.at(2, Shape{1, 2}), {}, 1);
      CHECK(sum_of(d, f, grad, y, t, mask, 1) == Approx(3 * second));
      CHECK(lab.get(grad)[3] == 0);
      CHECK(lab.get(grad)[7] == Approx(3 * slopes[7]).epsilon(1e-6));
      for (std::size_t at = 0; at < 4; ++at) {
        Values bad = kNormal;
        bad[at] = kNan;
        CHECK(std::isnan(
            sum_of(d, f, grad, lab.put(Shape{2, 4}, bad), t, {}, 1)));
        CHECK_FALSE(all_finite(d, grad));
      }
      CHECK_THROWS_AS(sum_of(d, f, {}, y, y, {}, 1), Error);
      CHECK_THROWS_AS(sum_of(d, f, {}, lab.put(Shape{1, 3}, {1, 2, 3}),
                             lab.put(Shape{1, 1}, {1}), {}, 1),
                      Error);
    }
}

TEST_CASE("cpu likelihoods of normal numbers agree with the reference") {
  for (const Shape& shape : kShapes)
    for (const bool masked : {false, true})
      check_like_reference([&](Lab& lab) {
        const Shape both{shape[0], 2 * shape[1]};
        LossSpec f{Loss::kGaussian};
        if (masked) f.weights = lab.random(Shape{shape[1]}, 4, 0, 2);
        const View grad = lab.blank(both);
        const double sum =
            sum_of(lab.device(), f, grad, lab.random(both, 1, -4, 4),
                   lab.random(shape, 2, -3, 3),
                   masked ? lab.random(Shape{shape[0]}, 3, 0, 2) : View{}, 0.5);
        Values all = lab.get(grad);
        all.push_back(sum);
        return all;
      });
}

TEST_CASE("an example of weight 0 is not looked at, others weigh") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const Shape shape{2, 2};
    const View y = lab.put(shape, {kNan, kNan, 0.5, 0.5});
    const View t = lab.put(shape, {1, 0, 0, 1});
    const View mask = lab.put(Shape{2}, {0, 3});
    for (const LossSpec& f : kAll) {
      const View grad = lab.blank(shape);
      const double sum = sum_of(lab.device(), f, grad, y, t, mask, 1);
      const double alone = sum_of(lab.device(), f, {}, y.at(2, Shape{1, 2}),
                                  t.at(2, Shape{1, 2}), {}, 1);
      CHECK(sum == Approx(3 * alone));
      CHECK(lab.get(grad)[0] == 0);
      CHECK(all_finite(lab.device(), grad));
    }
    for (const LossSpec& f : kOfLogits) {
      const View grad = lab.blank(shape);
      CHECK(std::isfinite(sum_of_logits(lab.device(), f, grad, y, t, mask, 1)));
      CHECK(all_finite(lab.device(), grad));
    }
  }
}

TEST_CASE("a NaN output shows in the loss and the gradient") {
  for (const char* name : {tested(), "reference"})
    for (std::size_t at = 0; at < 3; ++at) {
      Lab lab(name);
      const Shape shape{1, 3};
      Values values = {0.2, 0.3, 0.5};
      values[at] = kNan;
      const View y = lab.put(shape, values), t = lab.put(shape, {0, 1, 0});
      for (const LossSpec& f : kAll) {
        CAPTURE(name, at, static_cast<int>(f.kind));
        const View grad = lab.random(shape, 1);
        CHECK(std::isnan(sum_of(lab.device(), f, grad, y, t, {}, 1)));
        CHECK_FALSE(all_finite(lab.device(), grad));
      }
      for (const LossSpec& f : kOfLogits) {
        CAPTURE(name, at, static_cast<int>(f.kind));
        const View grad = lab.random(shape, 1);
        CHECK(std::isnan(sum_of_logits(lab.device(), f, grad, y, t, {}, 1)));
        CHECK_FALSE(all_finite(lab.device(), grad));
      }
    }
}

TEST_CASE("a gradient is the same without its loss") {
  for (const char* name : {tested(), "reference"})
    for (const Shape& shape : {Shape{3, 4}, Shape{90, 4}}) {
      Lab lab(name);
      dl::device::Device& d = lab.device();
      const View y = lab.random(shape, 1, 0.1, 0.9), t = lab.random(shape, 2);
      const View with = lab.blank(shape), without = lab.blank(shape);
      for (const LossSpec& f : kAll) {
        sum_of(d, f, with, y, t, {}, 0.5);
        d.loss({}, f, without, y, t, {}, 0.5);
        CHECK(lab.get(without) == lab.get(with));
      }
      for (const LossSpec& f : kOfLogits) {
        sum_of_logits(d, f, with, y, t, {}, 0.5);
        d.loss_with_logits({}, f, without, y, t, {}, 0.5);
        CHECK(lab.get(without) == lab.get(with));
      }
    }
}

TEST_CASE("losses refuse what does not fit") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const View y = lab.random(Shape{2, 3}, 1), t = lab.random(Shape{2, 3}, 2);
    dl::device::Device& d = lab.device();
    const LossSpec mse{Loss::kMeanSquaredError};
    CHECK_THROWS_AS(sum_of(d, mse, {}, y, lab.random(Shape{3, 2}, 1), {}, 1),
                    Error);
    CHECK_THROWS_AS(sum_of(d, mse, {}, y, t, lab.random(Shape{3}, 1), 1),
                    Error);
    CHECK_THROWS_AS(sum_of(d, mse, lab.blank(Shape{2}), y, t, {}, 1), Error);
    CHECK_THROWS_AS(sum_of_logits(d, mse, {}, y, t, {}, 1), Error);
    CHECK_THROWS_AS(sum_of(d, {Loss::kFocal}, {}, y, t, {}, 1), Error);
    CHECK_THROWS_AS(sum_of(d, {Loss::kBinaryFocal}, {}, y, t, {}, 1), Error);
    CHECK_THROWS_AS(
        sum_of(d, {Loss::kCategoricalHinge}, {}, lab.random(Shape{2, 1}, 1),
               lab.random(Shape{2, 1}, 1), {}, 1),
        Error);
    LossSpec weighted = mse;
    weighted.weights = lab.random(Shape{2}, 1);
    CHECK_THROWS_AS(sum_of(d, weighted, {}, y, t, {}, 1), Error);
  }
}

}  // namespace dl::device::loss_test
