// Arrays in the memory of a device.

#ifndef DL_LIBCORE_TENSOR_VIEW_H_
#define DL_LIBCORE_TENSOR_VIEW_H_

#include <cstddef>
#include <cstdint>

#include "libcore/tensor/dtype.h"
#include "libcore/tensor/shape.h"

namespace dl::tensor {

// Reals in device memory, or integers where that is said; not owned.
struct View {
  std::byte* data = nullptr;
  DType dtype =
      DType::kF32;  // Device::real() or activations() of its device, or kI32
  Shape shape;

  bool empty() const { return data == nullptr; }
  std::int64_t elements() const { return shape.elements(); }
  // Elements from `offset` on, seen as `part`.
  View at(std::int64_t offset, Shape part) const {
    return {data + offset * static_cast<std::int64_t>(size_of(dtype)), dtype,
            part};
  }
  View reshaped(Shape other) const { return {data, dtype, other}; }
  // For devices whose memory is the host's.
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

// Owns device memory; frees it through the device that made it.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual View view() const = 0;
};

// Choice between the largest and the smallest number.
enum class Extreme { kMax, kMin };

}  // namespace dl::tensor

#endif  // DL_LIBCORE_TENSOR_VIEW_H_
