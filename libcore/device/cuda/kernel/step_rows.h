// The rows of one step of a sequence, of all examples of a mini-batch.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_STEP_ROWS_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_STEP_ROWS_H_

#include <cstdint>

#include "libcore/device/cuda/kernel/reals.h"

namespace dl::device::cuda {

// A row each, so many elements apart.
struct StepRows {
  float* data = nullptr;
  std::int64_t row = 0;

  DL_BOTH float* of(std::int64_t b) const { return data + b * row; }
  DL_BOTH bool empty() const { return data == nullptr; }
};

// The same of what comes from outside, which may be bfloat16.
struct OuterRows {
  Reals data;
  std::int64_t row = 0;

  DL_BOTH float at(std::int64_t b, std::int64_t i) const {
    return data[b * row + i];
  }
  DL_BOTH bool empty() const { return data.empty(); }
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_STEP_ROWS_H_
