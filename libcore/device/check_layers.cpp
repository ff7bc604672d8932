// Checks of the primitives under one kind of layer each.

#include "libcore/base/error.h"
#include "libcore/device/check.h"

namespace dl::device {

using tensor::DType;
using tensor::Shape;
using tensor::View;

Rows check_local_norm(DType real, const LocalNorm& spec,
                      std::initializer_list<View> views) {
  check_reals(real, views);
  for (const View& view : views) check_same_shape(view, *views.begin());
  require(spec.window > 0 && spec.window % 2 == 1 &&
              spec.window <= LocalNorm::kMostWindow,
          "a window of channels that has no middle, or too many");
  require(spec.k > 0 && spec.alpha >= 0 && spec.beta >= 0,
          "a response that is normalized by nothing");
  return rows_of(*views.begin());
}

Steps check_pool_steps(DType real, const PoolSteps& spec, const View& y,
                       const View& x, const View& mask) {
  check_reals(real, {y, x});
  require(x.shape.rank() == 3, "sequences must be [batch, steps, features]");
  const Steps steps{x.shape[0], x.shape[1], x.shape[2]};
  check_shape(y, Shape{steps.n, steps.c});
  require(spec.p >= 1, "a norm with an exponent below 1");
  if (!mask.empty()) {
    check_reals(real, {mask});
    check_shape(mask, Shape{steps.n, steps.s});
  }
  return steps;
}

Upsampling check_upsampling(DType real, const View& y, const View& x) {
  check_reals(real, {y, x});
  require(x.shape.rank() == 4 && y.shape.rank() == 4,
          "images must be [batch, height, width, channels]");
  Upsampling u{x.shape[0], x.shape[1], x.shape[2], x.shape[3], {0, 0}};
  require(u.height > 0 && u.width > 0, "images without extent");
  for (int axis = 0; axis < 2; ++axis)
    u.factor[axis] = y.shape[1 + axis] / x.shape[1 + axis];
  require(u.factor[0] > 0 && u.factor[1] > 0, "images that become smaller");
  check_shape(
      y, Shape{u.n, u.height * u.factor[0], u.width * u.factor[1], u.channels});
  return u;
}

std::int64_t check_prelu(DType real, std::initializer_list<View> views,
                         const View& slope) {
  check_reals(real, views);
  check_reals(real, {slope});
  for (const View& view : views) check_equal_elements(view, *views.begin());
  const std::int64_t k = slope.elements();
  require(k > 0 && views.begin()->elements() % k == 0,
          "slopes that divide the elements unevenly");
  return k;
}

}  // namespace dl::device
