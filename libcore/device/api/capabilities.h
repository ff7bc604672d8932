// The capabilities of a device.

#ifndef DL_LIBCORE_DEVICE_API_CAPABILITIES_H_
#define DL_LIBCORE_DEVICE_API_CAPABILITIES_H_

#include <cstdint>

#include "libcore/device/api/precision.h"

namespace dl::device {

struct Capabilities {
  // It spreads work by itself: lanes are to be one.
  bool one_lane = false;
  // Precisions that it may be opened with, for training and for prediction
  // alone.
  Precisions training = {}, prediction = {};
  // Parameters that update() is best given at a time: 64 KiB in float32, in the
  // smallest caches of the second level with room for another lane's.
  std::int64_t piece = 16384;
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_CAPABILITIES_H_
