// The primitive under convolutions.
//
// Images are [batch, height, width, channels], weights [filters, kernel height,
// kernel width, channels / groups]: filters and channels are cut into as many
// groups, and a filter sees the channels of its own.  As many groups as
// channels is a depthwise convolution.

#ifndef DL_LIBCORE_DEVICE_API_CONV2D_H_
#define DL_LIBCORE_DEVICE_API_CONV2D_H_

#include <cstdint>

#include "libcore/device/api/activation.h"
#include "libcore/device/api/values.h"

namespace dl::device {

struct Conv2dSpec {
  std::int64_t height = 0, width = 0, channels = 0;  // of the input
  std::int64_t filters = 0;
  std::int64_t kernel[2] = {1, 1};  // height, width
  std::int64_t stride[2] = {1, 1};
  std::int64_t dilation[2] = {1, 1};   // 1 = dense kernel
  std::int64_t pad_begin[2] = {0, 0};  // top, left
  std::int64_t pad_end[2] = {0, 0};    // bottom, right
  std::int64_t groups = 1;             // divides channels and filters
  std::int64_t out_height() const;     // 0 where the kernel does not fit
  std::int64_t out_width() const;
};

// Convolution of images, or of volumes (conv3d.h): shapes are those of the
// specification. The batch is read off the first dimension of the views and may
// be anything from 1 to the max_batch given at creation.
class Conv2d {
 public:
  virtual ~Conv2d() = default;
  // y = conv(x, w) + b.  An empty b is left out.  b: [filters].
  virtual void forward(View y, View x, View w, View b) = 0;
  // y = f(conv(x, w) + b), for an elementwise f.  false: nothing is done, this
  // device gains nothing by it.
  virtual bool forward_activated(View, View, View, View,
                                 const ActivationSpec&) {
    return false;
  }
  // freeze(w, b, f), true: forward(), with empty w and b, returns
  // f(conv(x, w) + b) from now on, an example's to the bit the same in every
  // batch.  w and b are copied, into the form that is fastest.
  // false: this device gains nothing by it.
  virtual bool freeze(View, View, const ActivationSpec&) { return false; }
  // Shares what freeze() of `other` made: of the same spec and kind of device,
  // and with freeze() true.  The two may then run on different threads.
  virtual void freeze_like(const Conv2d& other) { static_cast<void>(other); }
  // Needs no forward() before it.  With x and y exchanged, this is a transposed
  // convolution and forward() its gradient.
  virtual void backward_data(View dx, View dy, View w) = 0;
  // An empty db is left out.
  virtual void backward_weights(View dw, View db, View x, View dy) = 0;
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_CONV2D_H_
