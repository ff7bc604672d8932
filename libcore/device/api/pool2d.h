// The primitive under pooling layers.

#ifndef DL_LIBCORE_DEVICE_API_POOL2D_H_
#define DL_LIBCORE_DEVICE_API_POOL2D_H_

#include <cstdint>

#include "libcore/device/api/values.h"

namespace dl::device {

// Function of the elements of a window; kPNorm: (sum of |x|^p)^(1/p).
enum class Pooling { kMax, kAverage, kPNorm };
struct Pool2dSpec {
  Pooling kind = Pooling::kMax;
  std::int64_t height = 0, width = 0, channels = 0;
  std::int64_t kernel[2] = {2, 2};
  std::int64_t stride[2] = {2, 2};
  std::int64_t pad_begin[2] = {0, 0};
  std::int64_t pad_end[2] = {0, 0};
  double p = 2;                // of kPNorm, at least 1
  bool count_padding = false;  // kAverage: as zeros; else it does not count
  std::int64_t out_height() const;
  std::int64_t out_width() const;
};

// Pooling of images, or of volumes (conv3d.h): shapes are those of the
// specification.
class Pool2d {
 public:
  virtual ~Pool2d() = default;
  // `training`: remembers what backward() needs.
  virtual void forward(View y, View x, bool training) = 0;
  virtual void backward(View dx, View dy) = 0;
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_POOL2D_H_
