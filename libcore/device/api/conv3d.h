// The primitives under layers of volumes.
//
// Volumes are [batch, depth, height, width, channels], weights [filters, kernel
// depth, kernel height, kernel width, channels / groups].

#ifndef DL_LIBCORE_DEVICE_API_CONV3D_H_
#define DL_LIBCORE_DEVICE_API_CONV3D_H_

#include <cstdint>

#include "libcore/device/api/conv2d.h"
#include "libcore/device/api/pool2d.h"

namespace dl::device {

// As Conv2dSpec, with depth first.
struct Conv3dSpec {
  std::int64_t depth = 0, height = 0, width = 0, channels = 0;
  std::int64_t filters = 0;
  std::int64_t kernel[3] = {1, 1, 1};
  std::int64_t stride[3] = {1, 1, 1};
  std::int64_t dilation[3] = {1, 1, 1};
  std::int64_t pad_begin[3] = {0, 0, 0};
  std::int64_t pad_end[3] = {0, 0, 0};
  std::int64_t groups = 1;
  std::int64_t out_depth() const;
  std::int64_t out_height() const;
  std::int64_t out_width() const;
};
using Conv3d = Conv2d;

// As Pool2dSpec, with depth first.
struct Pool3dSpec {
  Pooling kind = Pooling::kMax;
  std::int64_t depth = 0, height = 0, width = 0, channels = 0;
  std::int64_t kernel[3] = {2, 2, 2};
  std::int64_t stride[3] = {2, 2, 2};
  std::int64_t pad_begin[3] = {0, 0, 0};
  std::int64_t pad_end[3] = {0, 0, 0};
  double p = 2;
  bool count_padding = false;
  std::int64_t out_depth() const;
  std::int64_t out_height() const;
  std::int64_t out_width() const;
};
using Pool3d = Pool2d;

// Images as volumes of depth 1: elements lie the same.  Volumes as they are.
Conv3dSpec volume_of(const Conv2dSpec& spec);
Pool3dSpec volume_of(const Pool2dSpec& spec);
inline const Conv3dSpec& volume_of(const Conv3dSpec& spec) { return spec; }
inline const Pool3dSpec& volume_of(const Pool3dSpec& spec) { return spec; }

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_CONV3D_H_
