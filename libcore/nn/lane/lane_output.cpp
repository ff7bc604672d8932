// Loss and prediction of one output on a lane.

#include "libcore/nn/lane/lane_output.h"

#include <algorithm>

#include "libcore/nn/data/batch.h"
#include "libcore/nn/layers/parts/loss.h"

namespace dl::nn {

using tensor::Shape;
using tensor::Tensor;
using tensor::View;

LaneOutput::LaneOutput(device::Device& device, Memory& memory,
                       const ValueSpec& form, const LayerSettings& settings,
                       const data::Normalizer& normalizer,
                       std::int64_t max_batch, bool training)
    : device_(&device),
      form_(form),
      units_(training ? settings.integer("units") : 0),
      places_(places_of(form.shape)),
      each_(places_.elements()),
      normalizer_(normalizer) {
  staged_outputs_.resize(tensor::DType::kF32,
                         form.shape.with_first(max_batch * form.copies));
  if (!training) return;
  target_room_ = memory.allocate({max_batch * each_, units_});
  weights_room_ = memory.allocate({max_batch * each_});
  if (form.steps && places_.rank() > 1)
    steps_room_ = memory.allocate(weights_room_.shape);
  scale_ = Scale(device, memory, normalizer);
  if (!layers::is_over_steps(settings)) return;
  for (View* number : {&count_, &one_, &at_least_1_})
    *number = memory.allocate({1});
  which_ = memory.allocate({1}, tensor::DType::kI32);
  device.fill(one_, 1);
  shares_room_ = memory.allocate(weights_room_.shape);
}

void LaneOutput::load(const Part& labels, Share rows, View steps) {
  load_labels(*labels.values, rows);
  target_ = target_room_.at(0, {rows.count * each_, units_});
  weights_ = load_weights(labels.mask, rows, steps);
}

void LaneOutput::compare_with(View target, View steps) {
  target_ = target;
  weights_ = steps_ = by_places(steps);
  given_ = -1;
}

View LaneOutput::count(std::int64_t rows) {
  const std::int64_t places = rows * each_;
  if (rows > 0 && given_ < 0 && !steps_.empty())
    device_->sum_rows(count_, steps_.at(0, {places, 1}));
  else
    device_->fill(
        count_, static_cast<double>(rows > 0 && given_ >= 0 ? given_ : places));
  return count_;
}

// As many shares as weights; none that counts is no division by 0.
void LaneOutput::divide_by_count(std::int64_t rows) {
  const View some[] = {count_, one_};
  device_->extreme(at_least_1_, which_, some, tensor::Extreme::kMax);
  device_->reciprocal(at_least_1_, at_least_1_, 0);
  const View shares = shares_room_.at(0, {rows * each_});
  device::Strided s;
  device_->copy_strided(s.over(rows * each_, 1, 0), shares, at_least_1_, false);
  if (!weights_.empty())
    device_->multiply(shares, shares, weights_.at(0, shares.shape));
  weights_ = shares;
}

// For steps that are images, each pixel counts as its step does.
View LaneOutput::by_places(View steps) {
  if (steps.empty() || steps_room_.empty())
    return steps.reshaped({steps.elements()});
  const std::int64_t n = steps.elements(), each = each_ / places_[0];
  const View all = steps_room_.at(0, {n * each});
  device::Strided s;
  device_->copy_strided(s.over(n, each, 1).over(each, 1, 0), all, steps, false);
  return all;
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
  steps_ = steps.empty() ? View{} : by_places(steps);
  given_ = -1;
  if (places_.rank() == 0) {
    if (mask == nullptr) return {};
    device_->upload(all, take_rows(staged_weights_, *mask, rows, Shape{}));
    return all;
  }
  if (mask == nullptr) return steps_;
  const bool by_place = mask->shape() == places_.with_first(rows.total);
  staged_weights_.resize(tensor::DType::kF64, all.shape);
  for (std::int64_t i = 0; i < rows.count * each_; ++i) {
    const std::int64_t at = rows.first * each_ + i;
    staged_weights_.as<double>()[static_cast<std::size_t>(i)] =
        mask->value(by_place ? at : at / each_);
  }
  device_->upload(all, staged_weights_);
  if (by_place)
    given_ =
        all.elements() - std::ranges::count(staged_weights_.as<double>(), 0.0);
  else if (!steps_.empty())
    device_->multiply(all, all, steps_);
  return all;
}

void LaneOutput::loss(OutputLayer& layer, View grad, View y, double scale) {
  const std::int64_t copies = form_.copies;
  const Shape one{y.elements() / units_ / copies, units_};
  const auto copy = [&](View all, std::int64_t i) {
    if (all.empty() || all.elements() == one.elements())
      return all.reshaped(one);
    return all.at(i * one.elements(), one);
  };
  for (std::int64_t i = 0; i < copies; ++i)
    layer.loss(copy(grad, i), copy(y, i), copy(target_, i), weights_,
               scale / static_cast<double>(copies));
}

void LaneOutput::download(View y, std::int64_t first, Tensor& outputs) {
  device_->download(staged_outputs_, y);
  const std::span<float> all = staged_outputs_.as<float>(),
                         one = all.first(all.size() / copies());
  if (copies() > 1) average(all, one);
  normalizer_.undo(one);
  std::ranges::copy(
      one, outputs.as<float>().begin() + first * form_.shape.elements());
}

void LaneOutput::download_mask(View mask, std::int64_t first, Tensor& masks) {
  device_->download(staged_mask_, mask);
  const std::span<const float> all = staged_mask_.as<float>();
  const std::size_t size = all.size() / copies();
  const auto to = masks.as<float>().subspan(
      static_cast<std::size_t>(first * mask.shape[1]), size);
  std::ranges::copy(all.first(size), to.begin());
  for (std::size_t i = size; i < all.size(); ++i) to[i % size] *= all[i];
}

void LaneOutput::average(std::span<const float> all,
                         std::span<float> mean) const {
  for (std::size_t i = 0; i < mean.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < copies(); ++k) sum += all[k * mean.size() + i];
    mean[i] = static_cast<float>(sum / static_cast<double>(copies()));
  }
}

}  // namespace dl::nn
