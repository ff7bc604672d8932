// Reading of labels from tensors.

#include "libcore/eval/labels.h"

#include <cmath>
#include <string>

#include "libcore/base/error.h"
#include "libcore/eval/text.h"

namespace dl::eval {

namespace {

tensor::Shape with_one(const tensor::Shape& shape) {
  std::vector<std::int64_t> extents(shape.extents().begin(),
                                    shape.extents().end());
  extents.push_back(1);
  return tensor::Shape(std::span<const std::int64_t>(extents));
}

}  // namespace

tensor::Shape places_of(const tensor::Shape& predictions) {
  return tensor::Shape(predictions.extents().first(
      static_cast<std::size_t>(predictions.rank() - 1)));
}

Labels::Labels(const tensor::Tensor& labels, const tensor::Shape& shape,
               std::int64_t first)
    : labels_(labels),
      outputs_(shape.back()),
      steps_(places_of(shape).elements() / shape[0]),
      first_(first) {
  const tensor::Shape single = places_of(shape), column = with_one(single);
  const bool one = labels.shape() == single || labels.shape() == column;
  rows_ = !one && labels.shape() == shape;
  if (labels.empty() || (!one && !rows_))
    throw Error{Code::kData, "labels are " + labels.shape().to_string() +
                                 ", want " + single.to_string() + " or " +
                                 shape.to_string()};
}

void Labels::fail(std::int64_t i, const char* why) const {
  throw Error{Code::kData, "the label of example " +
                               std::to_string(first_ + i / steps_) + " " + why};
}

std::int64_t Labels::class_of(std::int64_t i) const {
  if (!rows_) {
    const std::int64_t classes = outputs_ == 1 ? 2 : outputs_;
    const double value = labels_.value(i);
    if (!(value >= 0 && value < static_cast<double>(classes)) ||
        value != std::floor(value))
      fail(i, ("is " + shortest(value) + ", want a class 0.." +
               std::to_string(classes - 1))
                  .c_str());
    return static_cast<std::int64_t>(value);
  }
  std::int64_t best = 0;
  for (std::int64_t j = 0; j < outputs_; ++j) {
    const double value = target(i, j);
    if (value < 0 || value > 1)
      fail(i, ("is " + shortest(value) + " for output " + std::to_string(j) +
               ", want the share of a class, 0..1; --evaluate regression takes "
               "numbers")
                  .c_str());
    if (value > target(i, best)) best = j;
  }
  if (!(target(i, best) > 0)) fail(i, "names no class: no value is over 0");
  return best;
}

bool Labels::positive(std::int64_t i, std::int64_t j) const {
  if (!rows_) {
    const std::int64_t label = class_of(i);
    return outputs_ == 1 ? label == 1 : label == j;
  }
  const double value = labels_.value(i * outputs_ + j);
  if (value != 0 && value != 1)
    fail(i, ("is " + shortest(value) + " for output " + std::to_string(j) +
             ", want 0 or 1")
                .c_str());
  return value == 1;
}

double Labels::target(std::int64_t i, std::int64_t j) const {
  if (!rows_ && outputs_ != 1)
    fail(i, ("is a class, want " + std::to_string(outputs_) +
             " targets; --evaluate classification takes classes")
                .c_str());
  const double value = labels_.value(i * outputs_ + j);
  if (!std::isfinite(value)) fail(i, "is not finite");
  if (!std::isfinite(static_cast<float>(value)))
    fail(i, ("is " + shortest(value) + ", beyond float32").c_str());
  return value;
}

}  // namespace dl::eval
