// Convolutions of images of few channels, which cuda has kernels of its own
// for.

#include "tests/unit/device/convolutions.h"

namespace dl::device::few_channels_test {

using namespace dl::device::test;
using dl::device::Conv2dSpec;

namespace {

const std::vector<ConvolutionCase> kCases = {
    {"few channels",
     {.height = 41,
      .width = 40,
      .channels = 1,
      .filters = 40,
      .kernel = {5, 5},
      .pad_end = {1, 0}},
     2},
    {"few channels, filters not in fours",
     {.height = 33,
      .width = 64,
      .channels = 3,
      .filters = 27,
      .kernel = {3, 2},
      .stride = {1, 2},
      .pad_begin = {1, 1}},
     3},
};

struct Arrays : Convolved {
  Arrays(Lab& lab, const Conv2dSpec& s, std::int64_t n)
      : Convolved(lab, s, n, {n, s.out_height(), s.out_width(), s.filters}) {}
};

}  // namespace

TEST_CASE("convolutions of few channels agree with the reference") {
  check_convolutions(
      kCases,
      [](Device& device, const Conv2dSpec& spec, std::int64_t max_batch) {
        return device.conv2d(spec, max_batch);
      },
      [](Lab& lab, const Conv2dSpec& spec, std::int64_t n) {
        return Arrays(lab, spec, n);
      });
}

}  // namespace dl::device::few_channels_test
