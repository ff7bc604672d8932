// Arithmetic on constant tensors.

#include "libcore/convert/import/onnx/constant.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"

namespace dl::convert::onnx {

std::int64_t count_of(const Sizes& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 0 || (extent > 0 && count > kMostFolded * 64 / extent))
      return kMostFolded * 64 + 1;
    count *= extent;
  }
  return count;
}

Constant Constant::of_wholes(Sizes shape, std::vector<std::int64_t> values) {
  Constant made;
  made.shape_ = std::move(shape);
  made.whole_ = true;
  made.wholes_ = std::move(values);
  return made;
}

Constant Constant::of_reals(Sizes shape, std::vector<float> values) {
  Constant made;
  made.shape_ = std::move(shape);
  made.owned_ = std::make_shared<const std::vector<float>>(std::move(values));
  made.reals_ = *made.owned_;
  return made;
}

Constant Constant::in_place(Sizes shape, std::span<const float> values) {
  Constant made;
  made.shape_ = std::move(shape);
  made.reals_ = values;
  return made;
}

namespace {

// Place of number i among `stored` numbers, of which one may stand for many.
std::size_t place(std::size_t i, std::size_t stored) {
  if (stored == 1) return 0;
  if (i >= stored) throw Error{Code::kData, "one of its tensors is empty"};
  return i;
}

}  // namespace

double Constant::at(std::size_t i) const {
  if (whole_) return static_cast<double>(whole_at(i));
  return reals_[place(i, reals_.size())];
}

std::int64_t Constant::whole_at(std::size_t i) const {
  if (whole_) return wholes_[place(i, wholes_.size())];
  const double value = at(i);
  constexpr double kMost = 9e18;
  return std::isnan(value) ? 0
                           : static_cast<std::int64_t>(
                                 std::clamp(std::trunc(value), -kMost, kMost));
}

std::int64_t Constant::kept() const {
  const bool own = owned_ != nullptr && owned_.use_count() == 1;
  return static_cast<std::int64_t>(own ? owned_->size() : wholes_.size());
}

bool Constant::repeats() const {
  return (whole_ ? wholes_.size() : reals_.size()) == 1 && elements() > 1;
}

std::optional<double> Constant::uniform() const {
  const std::size_t stored = whole_ ? wholes_.size() : reals_.size();
  if (stored == 0) return std::nullopt;
  const double first = at(0);
  for (std::size_t i = 1; i < stored; ++i)
    if (at(i) != first) return std::nullopt;
  return first;
}

std::vector<float> Constant::reals() const {
  // One number that stands for many.
  if (elements() > kMostFolded && reals_.size() <= 1)
    throw Error{Code::kData, "it has a constant of too many numbers"};
  std::vector<float> all(static_cast<std::size_t>(elements()));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(at(i));
  return all;
}

Sizes Constant::wholes() const {
  if (elements() > kMostFolded)
    throw Error{Code::kData, "it has a list of too many numbers"};
  Sizes all(static_cast<std::size_t>(elements()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = whole_at(i);
  return all;
}

Constant Constant::reshaped(Sizes shape) const {
  Constant same = *this;
  same.shape_ = std::move(shape);
  return same;
}

// The numbers of a tensor in another order: number i of the result is that at
// `place` of the source, which moves by step[k] along axis k.
namespace {

Constant taken(const Constant& from, const Sizes& shape, const Sizes& step) {
  const auto count = static_cast<std::size_t>(count_of(shape));
  std::vector<float> reals(from.whole() ? 0 : count);
  std::vector<std::int64_t> wholes(from.whole() ? count : 0);
  Sizes at(shape.size(), 0);
  std::int64_t place = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto p = static_cast<std::size_t>(place);
    if (from.whole())
      wholes[i] = from.whole_at(p);
    else
      reals[i] = static_cast<float>(from.at(p));
    for (std::size_t k = shape.size(); k-- > 0;) {
      place += step[k];
      if (++at[k] < shape[k]) break;
      place -= step[k] * shape[k];
      at[k] = 0;
    }
  }
  return from.whole() ? Constant::of_wholes(shape, std::move(wholes))
                      : Constant::of_reals(shape, std::move(reals));
}

Sizes steps_of(const Sizes& shape) {
  Sizes steps(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;)
    steps[k - 1] = steps[k] * shape[k];
  return steps;
}

}  // namespace

Constant transposed(const Constant& from, const std::vector<int>& order) {
  const Sizes steps = steps_of(from.shape());
  Sizes shape, step;
  for (const int axis : order) {
    shape.push_back(from.shape()[static_cast<std::size_t>(axis)]);
    step.push_back(steps[static_cast<std::size_t>(axis)]);
  }
  return taken(from, shape, step);
}

std::optional<Constant> broadcast(const Constant& from, const Sizes& shape) {
  const Sizes& own = from.shape();
  if (own.size() > shape.size()) return std::nullopt;
  const std::size_t ahead = shape.size() - own.size();
  const Sizes steps = steps_of(own);
  Sizes step(shape.size(), 0);
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (own[k] != shape[ahead + k] && own[k] != 1) return std::nullopt;
    if (own[k] != 1) step[ahead + k] = steps[k];
  }
  if (own == shape) return from;
  if (from.elements() > 0)
    if (const auto value = from.uniform())
      return from.whole()
                 ? Constant::of_wholes(shape, {from.whole_at(0)})
                 : Constant::of_reals(shape, {static_cast<float>(*value)});
  if (count_of(shape) > kMostFolded) return std::nullopt;
  return taken(from, shape, step);
}

}  // namespace dl::convert::onnx
