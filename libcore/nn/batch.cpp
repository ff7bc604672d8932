// Checks of mini-batches and metadata against what a network wants.

#include "libcore/nn/batch.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/nn/target_range.h"

namespace dl::nn {
namespace {

using tensor::DType;
using tensor::Loss;
using tensor::Shape;
using tensor::Tensor;

[[noreturn]] void refuse(const std::string& what) {
  throw Error{Code::kData, what};
}

void check_example(const Shape& example, const Shape& input) {
  if (example == input) return;
  if (example.rank() == 1 && example.elements() == input.elements()) return;
  refuse("examples are " + example.to_string() + ", the network wants " +
         input.to_string());
}

// `label`: the shape of one example's.
void check_label(DType dtype, const Shape& label, const Wanted& wanted) {
  if (wanted.steps == 0 || (label.rank() >= 1 && label[0] == wanted.steps)) {
    const Shape one = wanted.steps == 0 ? label : label.without_first();
    if (are_classes(dtype, one.with_first(1), wanted.units, 0)) {
      if (wanted.loss == Loss::kMeanAbsolutePercentageError)
        refuse("labels are class numbers, '" +
               std::string(name_of(wanted.loss)) +
               "' wants numbers other than 0");
      return;
    }
    if (one.elements() == wanted.units && one.rank() <= 1) return;
  }
  std::string classes = "class numbers", row = Shape{wanted.units}.to_string();
  if (wanted.steps > 0) {
    classes += " " + Shape{wanted.steps}.to_string();
    row = Shape{wanted.steps, wanted.units}.to_string();
  }
  refuse("labels are " + std::string(name_of(dtype)) + " " + label.to_string() +
         ", the network wants " +
         (wanted.units > 1 ? classes + " or " + row : row));
}

// `mask`: the shape of one example's.
void check_steps(const Shape& mask, const Wanted& wanted) {
  if (wanted.sequences && mask != Shape{wanted.input[0]})
    refuse("the features' mask is " + mask.to_string() +
           " an example, the network wants " +
           Shape{wanted.input[0]}.to_string());
}

// Class numbers have to be 0..limit-1.
void check_range(const Tensor& labels, std::int64_t limit) {
  const auto each =
      static_cast<std::size_t>(labels.elements() / labels.shape()[0]);
  tensor::visit_dtype(labels.dtype(), [&]<typename T>() {
    const auto all = labels.as<T>();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto label = static_cast<std::int64_t>(all[i]);
      if (label < 0 || label >= limit)
        refuse("example " + std::to_string(i / each) + " has label " +
               std::to_string(label) + ", the network knows 0.." +
               std::to_string(limit - 1));
    }
  });
}

}  // namespace

Wanted wanted_by(const NetworkConfig& config, const Layout& layout) {
  const LayerLayout& last = layout.layers.back();
  const OutputSpec output = output_of(config);
  return {.input = config.input,
          .sequences = layout.layers.front().input_steps,
          .units = output.units,
          .steps = last.output_steps ? last.output[0] : 0,
          .loss = output.loss.kind};
}

bool are_classes(DType dtype, const Shape& shape, std::int64_t units,
                 std::int64_t steps) {
  return !tensor::is_real(dtype) && units > 1 &&
         shape.rank() <= (steps > 0 ? 3 : 2) &&
         shape.elements() == shape[0] * std::max<std::int64_t>(steps, 1);
}

bool are_classes(const data::Metadata& data, const NetworkConfig& config) {
  const auto labels = data.schema.find("labels");
  if (labels == data.schema.end()) return false;
  const Wanted wanted = wanted_by(config, layout_of(config));
  return are_classes(labels->second.dtype, labels->second.shape.with_first(1),
                     wanted.units, wanted.steps);
}

bool sides_are_classes(const data::Metadata& data,
                       const NetworkConfig& config) {
  const OutputSpec output = output_of(config);
  return output.units == 1 && data.classes.size() == 2 &&
         (output.loss.kind == Loss::kHinge ||
          output.loss.kind == Loss::kSquaredHinge);
}

void check_features(const Tensor& features, const Tensor* mask,
                    const Wanted& wanted) {
  if (features.empty() || features.shape().rank() == 0)
    refuse("examples are missing");
  check_example(features.shape().without_first(), wanted.input);
  if (mask == nullptr || !wanted.sequences) return;
  if (mask->shape().rank() == 0 || mask->shape()[0] != features.shape()[0])
    refuse(std::to_string(features.shape()[0]) +
           " examples have a features' mask of " + mask->shape().to_string());
  check_steps(mask->shape().without_first(), wanted);
}

void check_batch(const Batch& batch, const Wanted& wanted) {
  check_features(*batch.features, batch.features_mask, wanted);
  const std::int64_t n = batch.examples();
  if (batch.labels == nullptr || batch.labels->empty() ||
      batch.labels->shape().rank() == 0)
    refuse("labels are missing");
  const Tensor& labels = *batch.labels;
  if (labels.shape()[0] != n)
    refuse(std::to_string(n) + " examples have " +
           std::to_string(labels.shape()[0]) + " labels");
  check_label(labels.dtype(), labels.shape().without_first(), wanted);
  if (batch.mask != nullptr && batch.mask->elements() != n &&
      (wanted.steps == 0 || batch.mask->shape() != Shape{n, wanted.steps}))
    refuse(std::to_string(n) + " examples have a mask of " +
           batch.mask->shape().to_string());
  if (are_classes(labels.dtype(), labels.shape(), wanted.units, wanted.steps)) {
    check_range(labels, wanted.units);
    return;
  }
  if (!tensor::is_real(labels.dtype()) &&
      (wanted.loss == Loss::kBinaryCrossEntropy ||
       wanted.loss == Loss::kBinaryFocal))
    check_range(labels, 2);
  check_targets(batch, wanted);
}

void check_metadata(const data::Metadata& metadata, const Wanted& wanted,
                    bool labels_needed) {
  const auto features = metadata.schema.find("features");
  if (features == metadata.schema.end())
    refuse("the data have no tensor 'features'");
  check_example(features->second.shape, wanted.input);
  if (const auto mask = metadata.schema.find("features_mask");
      mask != metadata.schema.end())
    check_steps(mask->second.shape, wanted);
  const auto labels = metadata.schema.find("labels");
  if (labels == metadata.schema.end()) {
    if (labels_needed) refuse("the data have no tensor 'labels'");
    return;
  }
  check_label(labels->second.dtype, labels->second.shape, wanted);
  const auto classes = static_cast<std::int64_t>(metadata.classes.size());
  const std::int64_t known = wanted.units > 1 ? wanted.units : 2;
  if (classes > known)
    refuse("the data have " + std::to_string(classes) + " classes, " +
           (wanted.units > 1
                ? "the network " + std::to_string(known)
                : "the network's single output tells two; for numbers to be "
                  "predicted, prepare them with --regression"));
}

}  // namespace dl::nn
