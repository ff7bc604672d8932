// Tests of what specifications of the device interface say of themselves.

#include <catch2/catch.hpp>

#include "libcore/device/api/device.h"

namespace dl::device::specs_test {

TEST_CASE("output extents of convolution and pooling") {
  Conv2dSpec lenet{.height = 12,
                   .width = 12,
                   .channels = 20,
                   .filters = 50,
                   .kernel = {5, 5},
                   .stride = {2, 2}};
  CHECK(lenet.out_height() == 4);
  Conv2dSpec same{.height = 32,
                  .width = 30,
                  .channels = 3,
                  .filters = 64,
                  .kernel = {4, 4},
                  .pad_begin = {1, 1},
                  .pad_end = {2, 2}};
  CHECK(same.out_height() == 32);
  CHECK(same.out_width() == 30);
  Conv2dSpec dilated{.height = 9,
                     .width = 9,
                     .channels = 1,
                     .filters = 1,
                     .kernel = {3, 3},
                     .dilation = {2, 4}};
  CHECK(dilated.out_height() == 5);
  CHECK(dilated.out_width() == 1);
  Conv2dSpec too_small{.height = 4,
                       .width = 4,
                       .channels = 1,
                       .filters = 1,
                       .kernel = {5, 5},
                       .stride = {2, 2}};
  CHECK(too_small.out_height() == 0);
  Pool2dSpec pool{.height = 7, .width = 8, .channels = 1};
  CHECK(pool.out_height() == 3);
  CHECK(pool.out_width() == 4);
}

TEST_CASE("updater state") {
  CHECK(state_per_parameter(Updater::kNone) == 0);
  CHECK(state_per_parameter(Updater::kSgd) == 0);
  CHECK(state_per_parameter(Updater::kNesterov) == 1);
  CHECK(state_per_parameter(Updater::kAdaGrad) == 1);
  CHECK(state_per_parameter(Updater::kRmsProp) == 1);
  CHECK(state_per_parameter(Updater::kAdam) == 2);
  CHECK(state_per_parameter(Updater::kAdamW) == 2);
  CHECK(state_per_parameter(Updater::kAmsGrad) == 3);
  CHECK(state_per_parameter(Updater::kAdaDelta) == 2);
  CHECK(initial_state({.kind = Updater::kAdaGrad, .epsilon = 1e-6}) == 1e-6);
  CHECK(initial_state({.kind = Updater::kRmsProp, .epsilon = 1e-8}) == 1e-8);
  CHECK(initial_state({.kind = Updater::kAdam, .epsilon = 1e-8}) == 0.0);
}

}  // namespace dl::device::specs_test
