// The extent of a tensor in each dimension, outermost first.

#ifndef DL_LIBCORE_TENSOR_SHAPE_H_
#define DL_LIBCORE_TENSOR_SHAPE_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace dl::tensor {

// Up to kMaxRank extents, each >= 0.  A value; never allocates.
class Shape {
 public:
  static constexpr int kMaxRank = 8;

  Shape() = default;  // rank 0: a scalar, one element
  Shape(std::initializer_list<std::int64_t> extents);
  // Throws Error: kData, rank over kMaxRank, a negative extent, or a product
  // that does not fit 63 bits.  Use it for shapes from files and peers.
  explicit Shape(std::span<const std::int64_t> extents);

  int rank() const noexcept { return rank_; }
  std::int64_t operator[](int axis) const { return extents_[axis]; }
  std::int64_t back() const { return extents_[rank_ - 1]; }
  std::int64_t elements() const noexcept;  // 1 for a scalar
  std::span<const std::int64_t> extents() const {
    return {extents_.data(), static_cast<std::size_t>(rank_)};
  }

  Shape without_first() const;             // [n, a, b] -> [a, b]
  Shape with_first(std::int64_t n) const;  // [a, b] -> [n, a, b]

  bool operator==(const Shape& other) const noexcept;
  std::string to_string() const;  // "[28, 28, 1]"

 private:
  std::array<std::int64_t, kMaxRank> extents_{};
  int rank_ = 0;
};

}  // namespace dl::tensor

#endif  // DL_LIBCORE_TENSOR_SHAPE_H_
