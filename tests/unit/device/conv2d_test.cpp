// Convolution: the reference against hand-made values and finite differences,
// the cpu device against the reference.

#include "tests/unit/device/convolutions.h"

namespace dl::device::conv2d_test {
using namespace dl::device::test;
using dl::device::Conv2dSpec;

namespace {

Shape y_shape(const Conv2dSpec& s, std::int64_t n) {
  return {n, s.out_height(), s.out_width(), s.filters};
}

// Odd sizes, every option alone and together, and the reference networks'.
const std::vector<ConvolutionCase> kCases = {
    {"1x1", {.height = 3, .width = 5, .channels = 7, .filters = 2}, 3},
    {"one pixel", {.height = 1, .width = 1, .channels = 1, .filters = 1}, 1},
    {"whole image",
     {.height = 4, .width = 3, .channels = 2, .filters = 5, .kernel = {4, 3}},
     2},
    {"odd kernel",
     {.height = 9, .width = 7, .channels = 3, .filters = 5, .kernel = {3, 3}},
     4},
    {"oblong kernel",
     {.height = 9, .width = 8, .channels = 3, .filters = 4, .kernel = {1, 5}},
     2},
    {"stride",
     {.height = 11,
      .width = 10,
      .channels = 4,
      .filters = 6,
      .kernel = {3, 3},
      .stride = {2, 3}},
     3},
    {"stride over the kernel",
     {.height = 12,
      .width = 12,
      .channels = 2,
      .filters = 3,
      .kernel = {2, 2},
      .stride = {4, 3}},
     2},
    {"dilation",
     {.height = 13,
      .width = 12,
      .channels = 3,
      .filters = 4,
      .kernel = {3, 3},
      .dilation = {2, 3}},
     2},
    {"same, odd kernel",
     {.height = 8,
      .width = 8,
      .channels = 16,
      .filters = 16,
      .kernel = {3, 3},
      .pad_begin = {1, 1},
      .pad_end = {1, 1}},
     3},
    {"same, even kernel",
     {.height = 8,
      .width = 7,
      .channels = 3,
      .filters = 20,
      .kernel = {4, 4},
      .pad_begin = {1, 1},
      .pad_end = {2, 2}},
     3},
    {"same, kernel 2",
     {.height = 6,
      .width = 6,
      .channels = 17,
      .filters = 33,
      .kernel = {2, 2},
      .pad_end = {1, 1}},
     2},
    {"same with stride and dilation",
     {.height = 15,
      .width = 14,
      .channels = 5,
      .filters = 9,
      .kernel = {3, 2},
      .stride = {2, 2},
      .dilation = {2, 3},
      .pad_begin = {1, 1},
      .pad_end = {2, 2}},
     3},
    {"padding as wide as the kernel",
     {.height = 5,
      .width = 5,
      .channels = 2,
      .filters = 3,
      .kernel = {3, 3},
      .pad_begin = {2, 2},
      .pad_end = {2, 2}},
     2},
    {"groups",
     {.height = 7,
      .width = 6,
      .channels = 6,
      .filters = 4,
      .kernel = {3, 2},
      .stride = {2, 1},
      .pad_begin = {1, 0},
      .groups = 2},
     3},
    {"groups of one filter",
     {.height = 5,
      .width = 5,
      .channels = 6,
      .filters = 3,
      .kernel = {2, 2},
      .dilation = {2, 1},
      .groups = 3},
     2},
    {"groups as wide as vectors",
     {.height = 6,
      .width = 6,
      .channels = 64,
      .filters = 32,
      .kernel = {3, 3},
      .pad_begin = {1, 1},
      .pad_end = {1, 1},
      .groups = 2},
     2},
    {"depthwise",
     {.height = 9,
      .width = 8,
      .channels = 5,
      .filters = 5,
      .kernel = {3, 3},
      .stride = {2, 2},
      .pad_begin = {1, 1},
      .pad_end = {1, 1},
      .groups = 5},
     3},
    {"depthwise, dilated, 40 channels",
     {.height = 9,
      .width = 8,
      .channels = 40,
      .filters = 40,
      .kernel = {3, 3},
      .dilation = {2, 2},
      .pad_begin = {2, 2},
      .pad_end = {2, 2},
      .groups = 40},
     3},
    {"depthwise, 5x5, 99 channels",
     {.height = 8,
      .width = 9,
      .channels = 99,
      .filters = 99,
      .kernel = {5, 5},
      .stride = {2, 1},
      .dilation = {1, 2},
      .pad_begin = {2, 3},
      .pad_end = {1, 4},
      .groups = 99},
     3},
    {"depthwise, wider than its images",
     {.height = 3,
      .width = 4,
      .channels = 20,
      .filters = 20,
      .kernel = {7, 7},
      .stride = {3, 2},
      .pad_begin = {4, 6},
      .pad_end = {5, 6},
      .groups = 20},
     2},
    {"depthwise, two filters a channel",
     {.height = 6,
      .width = 7,
      .channels = 4,
      .filters = 8,
      .kernel = {3, 3},
      .groups = 4},
     2},
    {"tiles that hang over",
     {.height = 11,
      .width = 9,
      .channels = 32,
      .filters = 48,
      .kernel = {3, 3},
      .pad_begin = {2, 0},
      .pad_end = {0, 2}},
     3},
    {"a block of tiles, three of filters",
     {.height = 4,
      .width = 4,
      .channels = 16,
      .filters = 144,
      .kernel = {3, 3},
      .pad_begin = {1, 1},
      .pad_end = {1, 1}},
     3},
    {"blocks of tiles",
     {.height = 16,
      .width = 16,
      .channels = 48,
      .filters = 64,
      .kernel = {3, 3},
      .pad_begin = {1, 1},
      .pad_end = {1, 1}},
     8},
    {"tiles, more channels than a product takes at once",
     {.height = 8,
      .width = 8,
      .channels = 272,
      .filters = 16,
      .kernel = {3, 3},
      .pad_begin = {1, 1},
      .pad_end = {1, 1}},
     2},
    {"tiles of 4x4 weights that hang over",
     {.height = 17,
      .width = 11,
      .channels = 48,
      .filters = 32,
      .kernel = {4, 4},
      .pad_begin = {3, 0},
      .pad_end = {1, 3}},
     3},
    {"tiles of 2x2 weights that hang over",
     {.height = 17,
      .width = 12,
      .channels = 32,
      .filters = 144,
      .kernel = {2, 2},
      .pad_begin = {0, 1},
      .pad_end = {1, 1}},
     3},
    {"large tiles that hang over, one tap at the ends",
     {.height = 9,
      .width = 7,
      .channels = 100,
      .filters = 104,
      .kernel = {2, 2},
      .pad_end = {1, 1}},
     7},
    {"few filters of many pixels, far apart",
     {.height = 12,
      .width = 11,
      .channels = 8,
      .filters = 12,
      .kernel = {3, 3},
      .dilation = {2, 2},
      .pad_begin = {2, 2},
      .pad_end = {2, 2}},
     8},
    {"stride that taps pass over",
     {.height = 11,
      .width = 10,
      .channels = 12,
      .filters = 16,
      .kernel = {3, 3},
      .stride = {3, 2},
      .dilation = {3, 2},
      .pad_begin = {3, 1},
      .pad_end = {2, 4}},
     5},
    {"groups of fours",
     {.height = 7,
      .width = 6,
      .channels = 36,
      .filters = 60,
      .kernel = {2, 3},
      .stride = {1, 2},
      .pad_begin = {0, 2},
      .pad_end = {1, 1},
      .groups = 3},
     3},
    {"groups of odd width",
     {.height = 6,
      .width = 6,
      .channels = 27,
      .filters = 30,
      .kernel = {3, 3},
      .stride = {2, 2},
      .pad_end = {2, 1},
      .groups = 3},
     3},
    {"narrow groups",
     {.height = 7,
      .width = 8,
      .channels = 12,
      .filters = 18,
      .kernel = {3, 2},
      .stride = {2, 1},
      .dilation = {1, 3},
      .pad_begin = {2, 1},
      .pad_end = {1, 2},
      .groups = 3},
     3},
    {"lenet, first",
     {.height = 28,
      .width = 28,
      .channels = 1,
      .filters = 20,
      .kernel = {5, 5}},
     4},
    {"lenet, second",
     {.height = 12,
      .width = 12,
      .channels = 20,
      .filters = 50,
      .kernel = {5, 5},
      .stride = {2, 2}},
     4},
    {"cifar, first",
     {.height = 32,
      .width = 32,
      .channels = 3,
      .filters = 64,
      .kernel = {4, 4},
      .pad_begin = {1, 1},
      .pad_end = {2, 2}},
     2},
    {"cifar, inner",
     {.height = 16,
      .width = 16,
      .channels = 64,
      .filters = 96,
      .kernel = {4, 4},
      .pad_begin = {1, 1},
      .pad_end = {2, 2}},
     2},
};

struct Arrays : Convolved {
  Arrays(Lab& lab, const Conv2dSpec& s, std::int64_t n)
      : Convolved(lab, s, n, y_shape(s, n)) {}
};

Values forward(const Conv2dSpec& s, const Values& x, const Values& w,
               const Values& b, std::int64_t n) {
  Lab lab("reference");
  const View y = lab.blank(y_shape(s, n));
  lab.device().conv2d(s, n)->forward(y, lab.put(x_shape(s, n), x),
                                     lab.put(w_shape(s), w),
                                     lab.put(Shape{s.filters}, b));
  return lab.get(y);
}

}  // namespace

TEST_CASE("reference convolution, by hand") {
  // 3x3 image, 2x2 kernel, no padding: each output is a + 2b + 3c + 4d + 0.5.
  const Conv2dSpec valid{
      .height = 3, .width = 3, .channels = 1, .filters = 1, .kernel = {2, 2}};
  const Values image = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  check_close(forward(valid, image, {1, 2, 3, 4}, {0.5}, 1),
              {37.5, 47.5, 67.5, 77.5}, 1e-12);
  // The same with the even kernel's odd pixel at the end.
  Conv2dSpec same = valid;
  same.pad_end[0] = same.pad_end[1] = 1;
  check_close(forward(same, image, {1, 2, 3, 4}, {0}, 1),
              {37, 47, 21, 67, 77, 33, 23, 26, 9}, 1e-12);
  // Two channels, two filters, kernel 1x1: w is [filter, 1, 1, channel].
  const Conv2dSpec mix{.height = 1, .width = 2, .channels = 2, .filters = 2};
  check_close(forward(mix, {1, 10, 2, 20}, {1, 2, 3, 4}, {0, 100}, 1),
              {21, 143, 42, 186}, 1e-12);
}

TEST_CASE("reference convolution's gradients are those of its forward") {
  for (const ConvolutionCase& c : kCases) {
    const Conv2dSpec& s = c.spec;
    if (s.height * s.width * s.channels * s.filters > 4000) continue;
    CAPTURE(c.name);
    const std::int64_t n = 2;
    Lab lab("reference");
    Arrays a(lab, s, n);
    const auto conv = lab.device().conv2d(s, n);
    const View dx = lab.blank(a.x.shape), dw = lab.blank(a.w.shape),
               db = lab.blank(a.b.shape);
    conv->backward_data(dx, a.dy, a.w);
    conv->backward_weights(dw, db, a.x, a.dy);
    const Values x = lab.get(a.x), w = lab.get(a.w), b = lab.get(a.b),
                 dy = lab.get(a.dy);
    check_close(lab.get(dx),
                numeric_gradient(
                    [&](auto& v) { return forward(s, v, w, b, n); }, x, dy),
                1e-8);
    check_close(lab.get(dw),
                numeric_gradient(
                    [&](auto& v) { return forward(s, x, v, b, n); }, w, dy),
                1e-8);
    check_close(lab.get(db),
                numeric_gradient(
                    [&](auto& v) { return forward(s, x, w, v, n); }, b, dy),
                1e-8);
  }
}

TEST_CASE("cpu convolution agrees with the reference") {
  check_convolutions(
      kCases,
      [](Device& device, const Conv2dSpec& spec, std::int64_t max_batch) {
        return device.conv2d(spec, max_batch);
      },
      [](Lab& lab, const Conv2dSpec& spec, std::int64_t n) {
        return Arrays(lab, spec, n);
      });
}

TEST_CASE("a convolution activated at once agrees with the reference") {
  const dl::device::ActivationSpec kinds[] = {
      {}, {dl::device::Activation::kRelu}, {dl::device::Activation::kSigmoid}};
  for (const ConvolutionCase& c : kCases)
    for (const auto& f : kinds)
      for (const bool bias : {false, true}) {
        CAPTURE(c.name, static_cast<int>(f.kind), bias);
        Lab lab(tested()), reference("reference");
        const std::int64_t n = c.max_batch;
        Arrays a(lab, c.spec, n), exact(reference, c.spec, n);
        const View y = lab.blank(a.dy.shape), want = reference.blank(y.shape);
        const auto conv = lab.device().conv2d(c.spec, n);
        if (!conv->forward_activated(y, a.x, a.w, bias ? a.b : View{}, f))
          return;  // this device does not
        reference.device().conv2d(c.spec, n)->forward(want, exact.x, exact.w,
                                                      bias ? exact.b : View{});
        reference.device().activate(f, want, want);
        check_close(lab.get(y), reference.get(want), 4e-6);
        lab.device().fill(a.b.at(0, Shape{1}), kNan);
        conv->forward_activated(y, a.x, a.w, a.b, f);
        const Values got = lab.get(y);
        for (std::int64_t i = 0; i < y.elements(); ++i)
          if (std::isnan(got[i]) != (i % c.spec.filters == 0)) FAIL(i);
      }
}

TEST_CASE("a frozen convolution has its weights, bias and activation") {
  if (std::string_view(tested()) != "cpu") return;  // the others do not freeze
  const dl::device::ActivationSpec kinds[] = {
      {}, {dl::device::Activation::kRelu}, {dl::device::Activation::kSoftmax}};
  for (const ConvolutionCase& c : kCases)
    for (const auto& f : kinds) {
      CAPTURE(c.name, static_cast<int>(f.kind));
      Lab cpu(tested()), reference("reference");
      const std::int64_t n = c.max_batch;
      Arrays a(cpu, c.spec, n), exact(reference, c.spec, n);
      const auto conv = cpu.device().conv2d(c.spec, n);
      REQUIRE(conv->freeze(a.dy.at(0, a.w.shape), {}, {}));
      REQUIRE(conv->freeze(a.w, a.b, f));  // again
      cpu.device().fill(a.w, kNan);
      cpu.device().fill(a.b, kNan);
      const View y = cpu.blank(a.dy.shape), want = reference.blank(y.shape);
      conv->forward(y, a.x, {}, {});
      reference.device().conv2d(c.spec, n)->forward(want, exact.x, exact.w,
                                                    exact.b);
      reference.device().activate(f, want, want);
      // Differences of large sums are the exponents of softmax.
      const bool steep = f.kind == dl::device::Activation::kSoftmax;
      check_close(cpu.get(y), reference.get(want), steep ? 4e-5 : 4e-6);
      // Each example alone.
      const Shape in = x_shape(c.spec, 1), out = y_shape(c.spec, 1);
      for (std::int64_t i = 0; i < n; ++i) {
        const View one = cpu.blank(out);
        conv->forward(one, a.x.at(i * in.elements(), in), {}, {});
        CHECK(cpu.get(one) == cpu.get(y.at(i * out.elements(), out)));
      }
    }
}

TEST_CASE("a convolution may be frozen without bias, and NaN passes") {
  if (std::string_view(tested()) != "cpu") return;
  Lab lab("cpu");
  const Conv2dSpec s{
      .height = 4, .width = 4, .channels = 1, .filters = 3, .kernel = {2, 2}};
  Arrays a(lab, s, 2);
  const auto conv = lab.device().conv2d(s, 2);
  const View y = lab.blank(a.dy.shape), frozen = lab.blank(a.dy.shape);
  REQUIRE(conv->freeze(a.w, {}, {dl::device::Activation::kRelu}));
  conv->forward(frozen, a.x, {}, {});
  conv->forward(y, a.x, a.w, {});
  lab.device().activate({dl::device::Activation::kRelu}, y, y);
  check_close(lab.get(frozen), lab.get(y), 1e-6);
  lab.device().fill(a.x.at(5, Shape{1}), kNan);
  conv->forward(frozen, a.x, {}, {});
  CHECK_FALSE(all_finite(lab.device(), frozen));
}

TEST_CASE("a group of filters sees its own channels") {
  // 1x1, two groups of two channels and one filter each.
  const Conv2dSpec s{
      .height = 1, .width = 1, .channels = 4, .filters = 2, .groups = 2};
  check_close(forward(s, {1, 2, 3, 4}, {10, 100, 1000, 10000}, {0, 0}, 1),
              {210, 43000}, 1e-12);
}

TEST_CASE("a convolution's backward_data is a transposed one, by itself") {
  // Three pixels, a kernel of two, stride 2: each input pixel writes its own
  // two of the six.
  const Conv2dSpec s{.height = 1,
                     .width = 6,
                     .channels = 1,
                     .filters = 1,
                     .kernel = {1, 2},
                     .stride = {1, 2}};
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const auto conv = lab.device().conv2d(s, 1);
    const View y = lab.blank(x_shape(s, 1));
    const View x = lab.put(y_shape(s, 1), {1, 2, 3});
    conv->backward_data(y, x, lab.put(w_shape(s), {10, 1}));
    check_close(lab.get(y), {10, 1, 20, 2, 30, 3}, 1e-6);
  }
  for (const ConvolutionCase& c : kCases) {
    CAPTURE(c.name);
    check_like_reference(
        [&](Lab& lab) {
          Arrays a(lab, c.spec, c.max_batch);
          const View dx = lab.blank(a.x.shape);
          lab.device()
              .conv2d(c.spec, c.max_batch)
              ->backward_data(dx, a.dy, a.w);
          return lab.get(dx);
        },
        4e-6);
  }
}

TEST_CASE("a convolution's arrays may begin at any number") {
  const Conv2dSpec s{.height = 6,
                     .width = 5,
                     .channels = 8,
                     .filters = 12,
                     .kernel = {3, 2},
                     .pad_begin = {1, 0}};
  check_like_reference(
      [&](Lab& lab) {
        Arrays a(lab, s, 3);
        const auto askew = [&](const View& from) {
          const View room = lab.blank(Shape{from.elements() + 1});
          const View to = room.at(1, from.shape);
          lab.device().copy(to, from);
          return to;
        };
        const View x = askew(a.x), w = askew(a.w), dy = askew(a.dy);
        const View y = askew(dy), dx = askew(x), dw = askew(w);
        const auto conv = lab.device().conv2d(s, 3);
        conv->forward(y, x, w, a.b);
        conv->backward_data(dx, dy, w);
        conv->backward_weights(dw, {}, x, dy);
        Values all;
        for (const View& view : {y, dx, dw})
          for (const double value : lab.get(view)) all.push_back(value);
        return all;
      },
      4e-6);
}

TEST_CASE("NaN passes through a convolution") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const Conv2dSpec s{
        .height = 4, .width = 4, .channels = 1, .filters = 3, .kernel = {2, 2}};
    Arrays a(lab, s, 1);
    lab.device().fill(a.x.at(5, Shape{1}), kNan);
    const View y = lab.blank(a.dy.shape);
    lab.device().conv2d(s, 1)->forward(y, a.x, a.w, a.b);
    CHECK_FALSE(all_finite(lab.device(), y));
  }
}

TEST_CASE("convolution refuses what does not fit") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const Conv2dSpec s{
        .height = 4, .width = 4, .channels = 2, .filters = 3, .kernel = {2, 2}};
    Arrays a(lab, s, 2);
    const auto conv = lab.device().conv2d(s, 2);
    const View y = lab.blank(a.dy.shape);
    CHECK_NOTHROW(conv->forward(y, a.x, a.w, a.b));
    CHECK_THROWS_AS(conv->forward(a.x, a.x, a.w, a.b), Error);
    CHECK_THROWS_AS(conv->forward(y, {}, a.w, a.b), Error);
    CHECK_THROWS_AS(
        conv->forward(y, a.x, a.w.reshaped(Shape{3, 2, 2, 2, 1}), a.b), Error);
    CHECK_THROWS_AS(conv->forward(y, a.x, a.w, a.w), Error);
    CHECK_THROWS_AS(conv->forward(y, a.x, {}, {}), Error);  // is not frozen
    Arrays more(lab, s, 3);
    CHECK_THROWS_AS(conv->forward(more.dy, more.x, more.w, more.b), Error);
    Conv2dSpec large = s;
    large.kernel[0] = 5;
    CHECK_THROWS_AS(lab.device().conv2d(large, 2), Error);
    Conv2dSpec uneven = s;
    uneven.groups = 2;
    CHECK_THROWS_AS(lab.device().conv2d(uneven, 2), Error);
    uneven.groups = 0;
    CHECK_THROWS_AS(lab.device().conv2d(uneven, 2), Error);
    Lab other(name == tested() ? "reference" : "cpu");
    CHECK_THROWS_AS(conv->forward(y, other.random(a.x.shape, 1), a.w, a.b),
                    Error);
  }
}

}  // namespace dl::device::conv2d_test
