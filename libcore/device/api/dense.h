// Fully connected layers.

#ifndef DL_LIBCORE_DEVICE_API_DENSE_H_
#define DL_LIBCORE_DEVICE_API_DENSE_H_

#include "libcore/device/api/activation.h"
#include "libcore/device/api/values.h"

namespace dl::device {

// One of as many parts of a result, all of which are computed at the same time,
// each by a device of its own; on the cpu and reference an element's bits do
// not depend on how many.
struct Slice {
  int index = 0, count = 1;
};

// A fully connected layer, for any batch: x [n, inputs], w [units, inputs], b
// [units], y [n, units].
class Dense {
 public:
  virtual ~Dense() = default;
  // y = x w' + b, of a slice of the units; an empty b is left out.
  virtual void forward(View y, View x, View w, View b, Slice slice) = 0;
  // dw = dy' x, of a slice of the units.
  virtual void backward_weights(View dw, View x, View dy, Slice slice) = 0;
  // dx = dy w, of a slice of the inputs.
  virtual void backward_data(View dx, View dy, View w, Slice slice) = 0;
  // As Conv2d::freeze() and freeze_like(), but w and b must stay as they are.
  virtual bool freeze(View, View, const ActivationSpec&) { return false; }
  virtual void freeze_like(const Dense& other) { static_cast<void>(other); }
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_DENSE_H_
