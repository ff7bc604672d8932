// Checked construction of shapes: elements() can then multiply blindly.

#include "libcore/tensor/shape.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace dl::tensor {
namespace {

std::string print(std::span<const std::int64_t> extents) {
  std::string text = "[";
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(extents[i]);
  }
  return text + "]";
}

// Describes the error in these extents, or null.
const char* defect(std::span<const std::int64_t> extents) {
  if (extents.size() > Shape::kMaxRank) return "has too many dimensions";
  if (std::ranges::any_of(extents, [](auto n) { return n < 0; }))
    return "has a negative extent";
  // A zero makes the product zero, but must not hide an overflow of the rest:
  // strides are products too.
  std::int64_t product = 1;
  for (const std::int64_t n : extents) {
    if (n > 0 && __builtin_mul_overflow(product, n, &product))
      return "has too many elements";
  }
  return nullptr;
}

}  // namespace

Shape::Shape(std::initializer_list<std::int64_t> extents) {
  require(defect({extents.begin(), extents.size()}) == nullptr,
          "impossible shape");
  rank_ = static_cast<int>(extents.size());
  std::ranges::copy(extents, extents_.begin());
}

Shape::Shape(std::span<const std::int64_t> extents) {
  if (const char* what = defect(extents); what != nullptr) {
    // A rank from a damaged file may be anything; show the first few.
    const auto shown = extents.first(std::min<std::size_t>(extents.size(), 10));
    throw Error{Code::kData, "shape " + print(shown) + " " + what};
  }
  rank_ = static_cast<int>(extents.size());
  std::ranges::copy(extents, extents_.begin());
}

std::int64_t Shape::elements() const noexcept {
  std::int64_t product = 1;
  for (const std::int64_t n : extents()) product *= n;
  return product;
}

Shape Shape::without_first() const {
  require(rank_ > 0, "without_first() of a scalar shape");
  Shape result;
  result.rank_ = rank_ - 1;
  std::copy_n(extents_.begin() + 1, rank_ - 1, result.extents_.begin());
  return result;
}

Shape Shape::with_first(std::int64_t n) const {
  require(rank_ < kMaxRank, "with_first() of a shape of highest rank");
  Shape result;
  result.rank_ = rank_ + 1;
  result.extents_[0] = n;
  std::copy_n(extents_.begin(), rank_, result.extents_.begin() + 1);
  require(defect(result.extents()) == nullptr, "impossible shape");
  return result;
}

bool Shape::operator==(const Shape& other) const noexcept {
  return std::ranges::equal(extents(), other.extents());
}

std::string Shape::to_string() const { return print(extents()); }

}  // namespace dl::tensor
