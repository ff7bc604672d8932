// Device::conv2d_max_pool() of its two parts, one after the other.

#ifndef DL_LIBCORE_DEVICE_CONV2D_THEN_MAX_POOL_H_
#define DL_LIBCORE_DEVICE_CONV2D_THEN_MAX_POOL_H_

#include <cstdint>
#include <memory>

#include "libcore/device/api/device.h"

namespace dl::device {

// The device outlives the result.
std::unique_ptr<Conv2d> conv2d_then_max_pool(Device& device,
                                             const Conv2dSpec& spec,
                                             std::int64_t max_batch);

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CONV2D_THEN_MAX_POOL_H_
