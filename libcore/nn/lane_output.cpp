#include "libcore/nn/lane_output.h"

#include <algorithm>

#include "libcore/nn/batch.h"

namespace dl::nn {

using tensor::Shape;
using tensor::Tensor;
using tensor::View;

LaneOutput::LaneOutput(tensor::Device& device, Memory& memory, const Form& form,
                       std::int64_t units, const data::Normalizer& normalizer,
                       std::int64_t max_batch, bool training)
    : device_(&device),
      form_(form),
      units_(units),
      places_(places_of(form.shape)),
      each_(places_.elements()),
      normalizer_(normalizer) {
  staged_outputs_.resize(tensor::DType::kF32, form.shape.with_first(max_batch));
  if (!training) return;
  target_room_ = memory.allocate({max_batch * each_, units});
  weights_room_ = memory.allocate({max_batch * each_});
  scale_ = Scale(device, memory, normalizer);
}

void LaneOutput::load(const Part& labels, Share rows, View steps) {
  load_labels(*labels.values, rows);
  weights_ = load_weights(labels.mask, rows, steps);
}

void LaneOutput::load_labels(const Tensor& labels, Share rows) {
  const bool classes =
      are_classes(labels.dtype(), labels.shape(), units_, places_);
  const Tensor& part =
      take_rows(staged_labels_, labels, rows, classes ? places_ : form_.shape);
  const View to = target_room_.at(0, {rows.count * each_, units_});
  if (classes)
    device_->upload_one_hot(to, part);
  else if (scale_.empty())
    device_->upload(to, part);
  else
    device_->upload_scaled(to, part, scale_.shift, scale_.scale);
}

View LaneOutput::load_weights(const Tensor* mask, Share rows, View steps) {
  const View all = weights_room_.at(0, {rows.count * each_});
  if (places_.rank() == 0) {
    if (mask == nullptr) return {};
    device_->upload(all, take_rows(staged_weights_, *mask, rows, Shape{}));
    return all;
  }
  if (mask == nullptr)
    return steps.empty() ? View{} : steps.reshaped(all.shape);
  const bool by_place = mask->shape() == places_.with_first(rows.total);
  staged_weights_.resize(tensor::DType::kF64, all.shape);
  for (std::int64_t i = 0; i < rows.count * each_; ++i) {
    const std::int64_t at = rows.first * each_ + i;
    staged_weights_.as<double>()[static_cast<std::size_t>(i)] =
        mask->value(by_place ? at : at / each_);
  }
  device_->upload(all, staged_weights_);
  if (!by_place && !steps.empty())
    device_->multiply(all, all, steps.reshaped(all.shape));
  return all;
}

double LaneOutput::loss(OutputLayer& layer, View grad, View y, double scale) {
  const Shape flat{y.elements() / units_, units_};
  return layer.loss(grad.empty() ? grad : grad.reshaped(flat), y.reshaped(flat),
                    target_room_.at(0, flat), weights_, scale);
}

void LaneOutput::download(View y, std::int64_t first, Tensor& outputs) {
  device_->download(staged_outputs_, y);
  normalizer_.undo(staged_outputs_.as<float>());
  std::ranges::copy(
      staged_outputs_.as<float>(),
      outputs.as<float>().begin() + first * form_.shape.elements());
}

}  // namespace dl::nn
