// Memory of host tensors.

#include "libcore/tensor/tensor.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace dl::tensor {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, an AVX-512 register

std::size_t byte_count(DType dtype, const Shape& shape) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.elements(),
                             static_cast<std::int64_t>(size_of(dtype)), &bytes))
    throw Error{Code::kData, "a tensor of shape " + shape.to_string() +
                                 " does not fit into memory"};
  return static_cast<std::size_t>(bytes);
}

// At least one line, so that a tensor without elements is not absent.  By
// calloc(), which leaves zeros of the kernel's untouched, with the address that
// it gave before the first line.
std::byte* allocate_zeros(std::size_t& bytes) {
  bytes = std::min(bytes, SIZE_MAX - 2 * kAlignment);
  bytes =
      std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  void* memory = std::calloc(1, bytes + kAlignment);
  if (memory == nullptr)
    throw Error{Code::kUnavailable, "not enough memory for a tensor of " +
                                        std::to_string(bytes) + " bytes"};
  const auto taken = reinterpret_cast<std::uintptr_t>(memory) % kAlignment;
  std::byte* first = static_cast<std::byte*>(memory) + (kAlignment - taken);
  std::memcpy(first - sizeof memory, &memory, sizeof memory);
  return first;
}

}  // namespace

void Tensor::Free::operator()(std::byte* p) const {
  void* memory = nullptr;
  std::memcpy(&memory, p - sizeof memory, sizeof memory);
  std::free(memory);
}

Tensor::Tensor(DType dtype, Shape shape)
    : dtype_(dtype), shape_(shape), capacity_(byte_count(dtype, shape)) {
  data_.reset(allocate_zeros(capacity_));
}

Tensor::Tensor(const Tensor& other) { *this = other; }

Tensor& Tensor::operator=(const Tensor& other) {
  if (this == &other) return *this;
  if (other.empty()) return *this = Tensor();
  resize(other.dtype_, other.shape_);
  std::memcpy(data_.get(), other.data_.get(), bytes().size());
  return *this;
}

std::span<std::byte> Tensor::bytes() noexcept {
  if (empty()) return {};
  return {data_.get(),
          static_cast<std::size_t>(shape_.elements()) * size_of(dtype_)};
}

std::span<const std::byte> Tensor::bytes() const noexcept {
  return const_cast<Tensor*>(this)->bytes();
}

Tensor Tensor::rows(std::int64_t begin, std::int64_t end) const {
  require(!empty() && shape_.rank() > 0,
          "rows() of an absent or scalar tensor");
  require(0 <= begin && begin <= end && end <= shape_[0],
          "rows() outside the tensor");
  const Shape row = shape_.without_first();
  const std::size_t row_bytes = byte_count(dtype_, row);
  Tensor result(dtype_, row.with_first(end - begin));
  const std::span<const std::byte> part =
      bytes().subspan(static_cast<std::size_t>(begin) * row_bytes,
                      static_cast<std::size_t>(end - begin) * row_bytes);
  std::memcpy(result.data_.get(), part.data(), part.size());
  return result;
}

double Tensor::value(std::int64_t i) const {
  require(!empty() && 0 <= i && i < elements(), "value() outside the tensor");
  return visit_dtype(dtype_, [&]<typename T>() {
    return static_cast<double>(as<T>()[static_cast<std::size_t>(i)]);
  });
}

void Tensor::reshape(Shape shape) {
  require(shape.elements() == elements(),
          "reshape() changes the element count");
  shape_ = shape;
}

void Tensor::resize(DType dtype, Shape shape) {
  std::size_t bytes = byte_count(dtype, shape);
  // A moved-from tensor still has its capacity_, but no memory.
  if (empty() || bytes > capacity_) {
    data_.reset(allocate_zeros(bytes));
    capacity_ = bytes;
  }
  dtype_ = dtype;
  shape_ = shape;
}

}  // namespace dl::tensor
