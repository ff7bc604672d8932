// The gradient of the weights of depthwise convolutions, where oneDNN has no
// fast one: for kernels larger than 3x3 it is fifteen times slower than its
// forward.

#ifndef DL_LIBCORE_DEVICE_CPU_DEPTHWISE_H_
#define DL_LIBCORE_DEVICE_CPU_DEPTHWISE_H_

#include <cstdint>

#include "libcore/device/api/conv2d.h"

namespace dl::device {

// Whether this one is to be taken.
bool is_large_depthwise(const Conv2dSpec& spec);

// dw [channels, kernel height, kernel width] of x and dy, `batch` images.
void depthwise_weights(const Conv2dSpec& spec, std::int64_t batch, float* dw,
                       const float* x, const float* dy);

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_DEPTHWISE_H_
