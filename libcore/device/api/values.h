// Names of tensor values that the device interface is written in.

#ifndef DL_LIBCORE_DEVICE_API_VALUES_H_
#define DL_LIBCORE_DEVICE_API_VALUES_H_

#include "libcore/tensor/dtype.h"
#include "libcore/tensor/shape.h"
#include "libcore/tensor/tensor.h"
#include "libcore/tensor/view.h"

namespace dl::device {

using tensor::Buffer;
using tensor::DType;
using tensor::Extreme;
using tensor::Shape;
using tensor::Tensor;
using tensor::View;

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_VALUES_H_
