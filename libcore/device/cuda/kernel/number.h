// Numbers that stay on the GPU.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_NUMBER_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_NUMBER_H_

#include "libcore/base/error.h"
#include "libcore/tensor/view.h"

namespace dl::device::cuda {

// Where the one number is that the view is.
inline double* number_at(const tensor::View& number) {
  require(!number.empty() && number.dtype == tensor::DType::kF64 &&
              number.elements() == 1,
          "a view that is not a number");
  return number.as<double>();
}

inline const double* number_if_any(const tensor::View& number) {
  return number.empty() ? nullptr : number_at(number);
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_NUMBER_H_
