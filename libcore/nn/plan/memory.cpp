// The memory of a network, counted.

#include "libcore/nn/layer.h"

namespace dl::nn {

tensor::View Memory::allocate(tensor::Shape shape) {
  return allocate(shape, device_->real());
}

tensor::View Memory::allocate(tensor::Shape shape, tensor::DType dtype) {
  if (shape.elements() == 0) return {nullptr, dtype, shape};
  buffers_.push_back(device_->allocate(shape, dtype));
  const tensor::View view = buffers_.back()->view();
  bytes_ += static_cast<std::size_t>(view.elements()) * size_of(view.dtype);
  return view;
}

}  // namespace dl::nn
