// Checks of mini-batches and metadata against what a network wants.

#include "libcore/nn/batch.h"

#include "libcore/base/error.h"

namespace dl::nn {
namespace {

using tensor::DType;
using tensor::Loss;
using tensor::Shape;
using tensor::Tensor;

[[noreturn]] void refuse(const std::string& what) {
  throw Error{Code::kData, what};
}

bool is_integer(DType type) {
  return type != DType::kF32 && type != DType::kF64;
}

void check_example(const Shape& example, const Shape& input) {
  if (example == input) return;
  if (example.rank() == 1 && example.elements() == input.elements()) return;
  refuse("examples are " + example.to_string() + ", the network wants " +
         input.to_string());
}

// `label`: the shape of one example's.
void check_label(DType dtype, const Shape& label, const Wanted& wanted) {
  const Shape batch = label.with_first(1);
  if (are_classes(dtype, batch, wanted.units)) return;
  if (label.elements() == wanted.units && label.rank() <= 1) return;
  const std::string row = Shape{wanted.units}.to_string();
  refuse("labels are " + std::string(name_of(dtype)) + " " + label.to_string() +
         ", the network wants " +
         (wanted.units > 1 ? "class numbers or " + row : row));
}

// Class numbers have to be 0..limit-1.
void check_range(const Tensor& labels, std::int64_t limit) {
  tensor::visit_dtype(labels.dtype(), [&]<typename T>() {
    const auto all = labels.as<T>();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto label = static_cast<std::int64_t>(all[i]);
      if (label < 0 || label >= limit)
        refuse("example " + std::to_string(i) + " has label " +
               std::to_string(label) + ", the network knows 0.." +
               std::to_string(limit - 1));
    }
  });
}

}  // namespace

bool are_classes(DType dtype, const Shape& shape, std::int64_t units) {
  return is_integer(dtype) && units > 1 && shape.rank() <= 2 &&
         shape.elements() == shape[0];
}

void check_features(const Tensor& features, const Wanted& wanted) {
  if (features.empty() || features.shape().rank() == 0)
    refuse("examples are missing");
  check_example(features.shape().without_first(), wanted.input);
}

void check_batch(const Batch& batch, const Wanted& wanted) {
  check_features(*batch.features, wanted);
  const std::int64_t n = batch.examples();
  if (batch.labels == nullptr || batch.labels->empty() ||
      batch.labels->shape().rank() == 0)
    refuse("labels are missing");
  const Tensor& labels = *batch.labels;
  if (labels.shape()[0] != n)
    refuse(std::to_string(n) + " examples have " +
           std::to_string(labels.shape()[0]) + " labels");
  check_label(labels.dtype(), labels.shape().without_first(), wanted);
  if (are_classes(labels.dtype(), labels.shape(), wanted.units))
    check_range(labels, wanted.units);
  else if (is_integer(labels.dtype()) &&
           wanted.loss == Loss::kBinaryCrossEntropy)
    check_range(labels, 2);
  if (batch.mask != nullptr && batch.mask->elements() != n)
    refuse(std::to_string(n) + " examples have a mask of " +
           batch.mask->shape().to_string());
}

void check_metadata(const data::Metadata& metadata, const Wanted& wanted,
                    bool labels_needed) {
  const auto features = metadata.schema.find("features");
  if (features == metadata.schema.end())
    refuse("the data has no tensor 'features'");
  check_example(features->second.shape, wanted.input);
  const auto labels = metadata.schema.find("labels");
  if (labels == metadata.schema.end()) {
    if (labels_needed) refuse("the data has no tensor 'labels'");
    return;
  }
  check_label(labels->second.dtype, labels->second.shape, wanted);
  const auto classes = static_cast<std::int64_t>(metadata.classes.size());
  const std::int64_t known = wanted.units > 1 ? wanted.units : 2;
  if (classes > known)
    refuse("the data has " + std::to_string(classes) +
           " classes, the network " + std::to_string(known));
}

}  // namespace dl::nn
