// The capabilities of a device.

#ifndef DL_LIBCORE_TENSOR_CAPABILITIES_H_
#define DL_LIBCORE_TENSOR_CAPABILITIES_H_

#include <cstdint>

#include "libcore/tensor/precision.h"

namespace dl::tensor {

struct Capabilities {
  // It spreads work by itself: lanes are to be one.
  bool one_lane = false;
  // What it may be opened with to train networks, and to predict alone.
  Precisions training = {}, prediction = {};
  // Parameters that update() is best given at a time: 64 KiB in float32, in the
  // smallest caches of the second level with room for another lane's.
  std::int64_t piece = 16384;
};

}  // namespace dl::tensor

#endif  // DL_LIBCORE_TENSOR_CAPABILITIES_H_
