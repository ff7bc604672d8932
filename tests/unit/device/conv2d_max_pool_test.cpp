// Convolution with max pooling: the cpu device, which never computes what
// loses, against the reference, which does one after the other.

#include "tests/unit/device/convolutions.h"

namespace dl::device::conv2d_max_pool_test {

using namespace dl::device::test;
using dl::device::Conv2dSpec;

namespace {

const std::vector<ConvolutionCase> kCases = {
    {"one output", {.height = 2, .width = 2, .channels = 1, .filters = 1}, 1},
    {"odd sizes, a row and a column dropped",
     {.height = 7, .width = 9, .channels = 3, .filters = 5, .kernel = {3, 3}},
     3},
    {"narrow image, wide kernel",
     {.height = 6, .width = 6, .channels = 1, .filters = 7, .kernel = {5, 5}},
     5},
    {"stride",
     {.height = 14,
      .width = 15,
      .channels = 4,
      .filters = 17,
      .kernel = {3, 2},
      .stride = {2, 3}},
     4},
    {"same, even kernel",
     {.height = 8,
      .width = 7,
      .channels = 3,
      .filters = 20,
      .kernel = {4, 4},
      .pad_begin = {1, 1},
      .pad_end = {2, 2}},
     3},
    {"dilation",
     {.height = 13,
      .width = 12,
      .channels = 3,
      .filters = 4,
      .kernel = {3, 3},
      .dilation = {2, 3}},
     2},
    {"groups",
     {.height = 8,
      .width = 9,
      .channels = 4,
      .filters = 6,
      .kernel = {3, 3},
      .groups = 2},
     2},
    {"several chunks",
     {.height = 28,
      .width = 28,
      .channels = 1,
      .filters = 20,
      .kernel = {5, 5}},
     27},
    {"few channels, tiles of filters and of taps",
     {.height = 20,
      .width = 19,
      .channels = 2,
      .filters = 72,
      .kernel = {4, 5},
      .pad_begin = {1, 2},
      .pad_end = {2, 2}},
     7},
    {"few channels, filters not in fours",
     {.height = 20,
      .width = 20,
      .channels = 3,
      .filters = 27,
      .kernel = {3, 3},
      .stride = {1, 2},
      .pad_begin = {1, 0},
      .pad_end = {1, 1}},
     9},
    {"few channels, large images",
     {.height = 113,
      .width = 111,
      .channels = 1,
      .filters = 2,
      .kernel = {3, 3}},
     1},
    {"outputs of several images in a vector",
     {.height = 12,
      .width = 12,
      .channels = 20,
      .filters = 50,
      .kernel = {5, 5},
      .stride = {2, 2}},
     7},
    {"long spans",
     {.height = 6,
      .width = 6,
      .channels = 190,
      .filters = 9,
      .kernel = {2, 2},
      .pad_end = {1, 1}},
     2},
    {"tiles, a row and a column dropped",
     {.height = 9,
      .width = 11,
      .channels = 32,
      .filters = 48,
      .kernel = {4, 4},
      .pad_begin = {1, 1},
      .pad_end = {2, 2}},
     2},
};

Shape y_shape(const Conv2dSpec& s, std::int64_t n) {
  return {n, s.out_height() / 2, s.out_width() / 2, s.filters};
}

struct Arrays : Convolved {
  Arrays(Lab& lab, const Conv2dSpec& s, std::int64_t n)
      : Convolved(lab, s, n, y_shape(s, n)), y(lab.blank(dy.shape)) {
    // As a relu leaves it: a good part is zero.
    Values gradient = lab.get(dy);
    for (double& value : gradient) value = value < 0 ? 0 : value;
    dy = lab.put(dy.shape, gradient);
  }
  View y;
};

}  // namespace

TEST_CASE("cpu convolution with max pooling agrees with the reference") {
  // Others win once sums are rounded.
  if (tested_precision() != Precision::kFloat32) return;
  check_convolutions(
      kCases,
      [](Device& device, const Conv2dSpec& spec, std::int64_t max_batch) {
        return device.conv2d_max_pool(spec, max_batch);
      },
      [](Lab& lab, const Conv2dSpec& spec, std::int64_t n) {
        return Arrays(lab, spec, n);
      });
}

TEST_CASE("convolution with max pooling, activated at once") {
  if (tested_precision() != Precision::kFloat32) return;
  for (const ConvolutionCase& c : kCases)
    for (const auto kind :
         {dl::device::Activation::kRelu, dl::device::Activation::kSigmoid}) {
      CAPTURE(c.name, static_cast<int>(kind));
      Lab lab(tested()), reference("reference");
      const std::int64_t n = c.max_batch;
      Arrays a(lab, c.spec, n), exact(reference, c.spec, n);
      if (!lab.device().conv2d_max_pool(c.spec, n)->forward_activated(
              a.y, a.x, a.w, a.b, {kind}))
        continue;  // as most of this device
      reference.device().conv2d_max_pool(c.spec, n)->forward(exact.y, exact.x,
                                                             exact.w, exact.b);
      reference.device().activate({kind}, exact.y, exact.y);
      check_close(lab.get(a.y), reference.get(exact.y), 4e-6);
    }
}

TEST_CASE("the first of equal sums wins, and NaN wins over numbers") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const Conv2dSpec s{.height = 2, .width = 4, .channels = 1, .filters = 1};
    const auto conv = lab.device().conv2d_max_pool(s, 1);
    const View w = lab.put(Shape{1, 1, 1, 1}, {1}), y = lab.blank({1, 1, 2, 1});
    const View dx = lab.blank({1, 2, 4, 1});
    const View x = lab.put({1, 2, 4, 1}, {3, 3, 1, 7, 3, 3, kNan, 9});
    conv->forward(y, x, w, {});
    CHECK(lab.get(y)[0] == 3);
    CHECK(std::isnan(lab.get(y)[1]));
    conv->backward_data(dx, lab.put(y.shape, {5, 6}), w);
    CHECK(lab.get(dx) == Values{5, 0, 0, 0, 0, 0, 6, 0});
  }
}

TEST_CASE("an image's outputs do not depend on the others, to the bit") {
  if (std::string_view(tested()) != "cpu") return;  // cuDNN's plans differ
  const Conv2dSpec& s = kCases[7].spec;
  Lab lab("cpu");
  Arrays a(lab, s, 7);
  lab.device().conv2d_max_pool(s, 7)->forward(a.y, a.x, a.w, a.b);
  const auto alone = lab.device().conv2d_max_pool(s, 1);
  const Shape image = a.x.shape.without_first(),
              out = a.y.shape.without_first();
  for (const std::int64_t i : {0, 3, 6}) {
    const View y = lab.blank(out.with_first(1));
    alone->forward(y, a.x.at(i * image.elements(), image.with_first(1)), a.w,
                   a.b);
    CHECK(lab.get(y) == lab.get(a.y.at(i * out.elements(), out.with_first(1))));
  }
}

TEST_CASE("convolution with max pooling refuses what does not fit") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const Conv2dSpec s{
        .height = 5, .width = 5, .channels = 2, .filters = 3, .kernel = {2, 2}};
    Arrays a(lab, s, 2);
    const auto conv = lab.device().conv2d_max_pool(s, 2);
    CHECK_NOTHROW(conv->forward(a.y, a.x, a.w, a.b));
    CHECK_THROWS_AS(conv->forward(a.x, a.x, a.w, a.b), Error);
    Arrays more(lab, s, 3);
    CHECK_THROWS_AS(conv->forward(more.y, more.x, more.w, more.b), Error);
    Conv2dSpec small = s;
    small.kernel[0] = 5;
    CHECK_THROWS_AS(lab.device().conv2d_max_pool(small, 2), Error);
  }
}

}  // namespace dl::device::conv2d_max_pool_test
