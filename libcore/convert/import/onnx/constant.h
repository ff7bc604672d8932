// A tensor of known numbers, and what operators make of such.
//
// Examples are computed shapes, transposed weights and scales: they are worked
// out here, and no layer has to say them.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_CONSTANT_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_CONSTANT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libcore/convert/import/graph.h"

namespace dl::convert::onnx {

struct Node;

// The most numbers that are worked out of others.
constexpr std::int64_t kMostFolded = std::int64_t{1} << 26;

// Product of extents; kMostFolded + 1 if it is more than that.
std::int64_t count_of(const Sizes& extents);

class Constant {
 public:
  Constant() = default;
  // values: one for all numbers, or all of them, row-major.
  static Constant of_wholes(Sizes shape, std::vector<std::int64_t> values);
  static Constant of_reals(Sizes shape, std::vector<float> values);
  // Numbers that lie elsewhere and stay there.
  static Constant in_place(Sizes shape, std::span<const float> values);

  const Sizes& shape() const { return shape_; }
  bool whole() const { return whole_; }
  std::int64_t elements() const { return count_of(shape_); }
  // Numbers that it alone keeps: one where they are all the same, and none
  // where they lie elsewhere.
  std::int64_t kept() const;
  // One number stands for many.
  bool repeats() const;
  // Number i, row-major.
  double at(std::size_t i) const;
  std::int64_t whole_at(std::size_t i) const;
  // All are this one.
  std::optional<double> uniform() const;
  std::vector<float> reals() const;
  // Integers of a list or scalar.
  Sizes wholes() const;
  Constant reshaped(Sizes shape) const;

 private:
  Sizes shape_;
  bool whole_ = false;
  std::vector<std::int64_t> wholes_;
  std::span<const float> reals_;
  std::shared_ptr<const std::vector<float>> owned_;
};

// The axes of the result are those of the constant in this order.
Constant transposed(const Constant& from, const std::vector<int>& order);
// Repeats along axes of extent 1, and new ones in front.
std::optional<Constant> broadcast(const Constant& from, const Sizes& shape);

// left: how many numbers may still be kept.  Throws Error: kData, there are
// more.
void take_numbers(const Node& node, const Constant& made, std::int64_t& left);

// The output of a node all of whose inputs are constants (null: left out).
// None: the operator is not worked out here, or the inputs do not fit it.
std::optional<Constant> folded(const Node& node,
                               const std::vector<const Constant*>& in);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_CONSTANT_H_
