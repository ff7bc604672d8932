// A tensor in host memory, dense, row-major.

#ifndef DL_LIBCORE_TENSOR_TENSOR_H_
#define DL_LIBCORE_TENSOR_TENSOR_H_

#include <cstddef>
#include <memory>
#include <span>

#include "libcore/base/error.h"
#include "libcore/tensor/dtype.h"
#include "libcore/tensor/shape.h"

namespace dl::tensor {

// Owns its elements, 64-byte aligned.  Copying copies them.
class Tensor {
 public:
  Tensor() = default;                // "absent": empty() is true
  Tensor(DType dtype, Shape shape);  // zeros
  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor& other);
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept = default;

  bool empty() const noexcept { return !data_; }
  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  std::int64_t elements() const noexcept { return shape_.elements(); }

  std::span<std::byte> bytes() noexcept;
  std::span<const std::byte> bytes() const noexcept;

  // The elements as T, which must be the C++ type of dtype().
  template <typename T>
  std::span<T> as() {
    require(dtype_of<T>() == dtype_, "tensor read as another type");
    return {reinterpret_cast<T*>(data_.get()),
            static_cast<std::size_t>(elements())};
  }
  template <typename T>
  std::span<const T> as() const {
    return const_cast<Tensor*>(this)->as<T>();
  }

  // Elements [begin, end) of the first dimension, copied.
  Tensor rows(std::int64_t begin, std::int64_t end) const;
  // Element i of any dtype as a double; for code where speed does not matter.
  double value(std::int64_t i) const;
  // Same bytes, another shape with equally many elements.
  void reshape(Shape shape);
  // Sets the shape, keeping the memory if it is large enough.
  void resize(DType dtype, Shape shape);

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  DType dtype_ = DType::kF32;
  Shape shape_;
  std::size_t capacity_ = 0;
  std::unique_ptr<std::byte[], Free> data_;
};

}  // namespace dl::tensor

#endif  // DL_LIBCORE_TENSOR_TENSOR_H_
