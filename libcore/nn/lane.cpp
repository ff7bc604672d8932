// Building the layers of a lane, loading its share, and passing it through.

#include "libcore/nn/lane.h"

#include <algorithm>
#include <cstring>

#include "libcore/base/error.h"
#include "libcore/nn/layers/conv2d.h"

namespace dl::nn {
namespace {

using tensor::Shape;
using tensor::Tensor;
using tensor::View;

// Rows [begin, begin + count) of `all`, each seen as `row`: `all` itself where
// it is that already, else a copy in `staged`, whose memory is kept.
const Tensor& take_rows(Tensor& staged, const Tensor& all, std::int64_t begin,
                        std::int64_t count, const Shape& row) {
  if (begin == 0 && all.shape() == row.with_first(count)) return all;
  staged.resize(all.dtype(), row.with_first(count));
  const auto bytes =
      static_cast<std::size_t>(row.elements()) * tensor::size_of(all.dtype());
  std::memcpy(staged.bytes().data(),
              all.bytes().data() + static_cast<std::size_t>(begin) * bytes,
              static_cast<std::size_t>(count) * bytes);
  return staged;
}

View upload(tensor::Device& device, Memory& memory,
            const std::vector<double>& values) {
  Tensor host(tensor::DType::kF64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), host.as<double>().begin());
  const View view = memory.allocate(host.shape());
  device.upload(view, host);
  return view;
}

}  // namespace

Share share_of(int lane, int lanes, std::int64_t total) {
  const std::int64_t each = total / lanes, more = total % lanes;
  return {lane * each + std::min<std::int64_t>(lane, more),
          each + (lane < more ? 1 : 0), total};
}

Lane::Lane(const Common& common, int index, tensor::Device& device)
    : common_(common),
      index_(index),
      max_batch_(share(common.max_batch).count),
      device_(&device),
      memory_(device) {
  // A lane that never has an example still takes part in every sum.
  max_batch_ = std::max<std::int64_t>(max_batch_, 1);
  const auto& config = *common_.config;
  features_ = memory_.allocate(config.input.with_first(max_batch_));
  const auto& [of_features, of_targets] = *common_.normalizers;
  if (!of_features.changes_nothing()) {
    shift_ = upload(device, memory_, of_features.shift);
    scale_ = upload(device, memory_, of_features.scale);
  }
  if (common_.layout->layers.front().input_steps)
    steps_ = memory_.allocate({max_batch_, config.input[0]});
  units_ = output_of(config).units;
  const Shape& output = common_.layout->layers.back().output;
  staged_outputs_.resize(tensor::DType::kF32, output.with_first(max_batch_));
  gradient_ = memory_.allocate(
      {common_.training ? common_.layout->parameter_count : 0});
  if (common_.training) {
    const std::int64_t rows = max_batch_ * output.elements() / units_;
    target_ = memory_.allocate({rows, units_});
    mask_ = memory_.allocate({rows});
    if (!of_targets.changes_nothing()) {
      target_shift_ = upload(device, memory_, of_targets.shift);
      target_scale_ = upload(device, memory_, of_targets.scale);
    }
  }
  build_layers();
}

void Lane::build_layers() {
  const auto& configs = common_.config->layers;
  const auto& layouts = common_.layout->layers;
  std::int64_t widest = 0, summed = 0;
  first_trained_ = 0;
  while (layouts[first_trained_].parameters_begin ==
         layouts[first_trained_].parameters_end)
    ++first_trained_;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    layers_.push_back(make(i));
    if (i >= first_trained_) widest = std::max(widest, result_of(i).elements());
    summed = std::max(summed, layouts[i].summed);
  }
  output_ = dynamic_cast<OutputLayer*>(layers_.back().get());
  require(output_ != nullptr, "a network that ends without a loss");
  if (!common_.training) return;
  for (View& flow : flow_) flow = memory_.allocate({max_batch_ * widest});
  if (summed > 0) sum_scratch_ = memory_.allocate({summed});
}

std::unique_ptr<Layer> Lane::make(std::size_t i) {
  if (i > 0 && pools_at_once(i - 1)) return layers::make_passed();
  if (pools_at_once(i)) return layers::make_conv2d_max_pool2d(site(i), memory_);
  return common_.config->layers[i].type->make(site(i), memory_);
}

bool Lane::pools_at_once(std::size_t i) const {
  const auto& configs = common_.config->layers;
  return i + 1 < configs.size() &&
         layers::pools_at_once(configs[i], configs[i + 1],
                               common_.layout->layers[i].output);
}

bool Lane::has_result(std::size_t i) const {
  if (i > 0 && pools_at_once(i - 1)) return false;
  const Room room = common_.config->layers[i].type->room;
  return room == Room::kAlways ||
         (room == Room::kInTraining && common_.training);
}

const Shape& Lane::result_of(std::size_t i) const {
  return common_.layout->layers[pools_at_once(i) ? i + 1 : i].output;
}

LayerSite Lane::site(std::size_t i) {
  const LayerLayout& layout = common_.layout->layers[i];
  LayerSite s;
  s.device = device_;
  s.settings = &common_.config->layers[i].settings;
  s.index = static_cast<int>(i);
  s.seed = common_.config->seed;
  s.input = layout.input;
  s.output = result_of(i);
  s.steps = layout.input_steps ? layout.input[0] : 1;
  s.truncate = common_.config->tbptt_length;
  s.max_batch = max_batch_;
  s.training = common_.training;
  s.keeps_statistics = index_ == 0;
  s.result = result_room(i);
  for (std::size_t p = layout.parameters_begin; p < layout.parameters_end;
       ++p) {
    const Segment& segment = common_.layout->parameters[p];
    s.parameters.push_back(
        common_.parameters.at(segment.offset, segment.shape));
    if (common_.training)
      s.gradients.push_back(gradient_.at(segment.offset, segment.shape));
  }
  for (std::size_t p = layout.statistics_begin; p < layout.statistics_end;
       ++p) {
    const Segment& segment = common_.layout->statistics[p];
    s.statistics.push_back(
        common_.statistics.at(segment.offset, segment.shape));
  }
  return s;
}

// In training each layer keeps its result; otherwise two rooms take turns.
View Lane::result_room(std::size_t i) {
  if (!has_result(i)) return {};
  if (common_.training)
    return memory_.allocate(result_of(i).with_first(max_batch_));
  std::int64_t widest = 0;
  std::size_t turn = 0;
  for (std::size_t k = 0; k < common_.layout->layers.size(); ++k) {
    if (!has_result(k)) continue;
    widest = std::max(widest, result_of(k).elements());
    if (k < i) ++turn;
  }
  View& room = room_[turn % 2];
  if (room.empty()) room = memory_.allocate({max_batch_ * widest});
  return room.at(0, result_of(i).with_first(max_batch_));
}

Share Lane::share(std::int64_t total) const {
  return share_of(index_, common_.team->size(), total);
}

void Lane::all_reduce(View mine) {
  common_.team->all_reduce(index_, *device_, mine,
                           sum_scratch_.at(0, mine.shape));
}

void Lane::load_features(const Tensor& features, Share rows) {
  // The normalizer's columns are those of the data as it was gathered, which
  // may have been flat rows or images.
  Shape row = features.shape().without_first();
  if (!shift_.empty() && shift_.elements() > 1 &&
      shift_.elements() != (row.rank() > 0 ? row.back() : 1))
    row = common_.config->input;
  if (!shift_.empty() && shift_.elements() > 1 &&
      shift_.elements() != row.back())
    throw Error{Code::kData,
                "the normalizer has " + std::to_string(shift_.elements()) +
                    " columns, the examples are " + row.to_string()};
  const Tensor& part =
      take_rows(staged_features_, features, rows.first, rows.count, row);
  const View to = features_.at(0, part.shape());
  if (shift_.empty())
    device_->upload(to, part);
  else
    device_->upload_scaled(to, part, shift_, scale_);
}

// The mask of the steps, empty where there is none.
View Lane::load_steps(const Tensor* features_mask, Share rows) {
  if (features_mask == nullptr || steps_.empty()) return {};
  const Shape row{steps_.shape[1]};
  const View to = steps_.at(0, row.with_first(rows.count));
  device_->upload(to, take_rows(staged_steps_, *features_mask, rows.first,
                                rows.count, row));
  return to;
}

void Lane::load_labels(const Tensor& labels, Share rows) {
  const LayerLayout& last = common_.layout->layers.back();
  const std::int64_t steps = last.output_steps ? last.output[0] : 0;
  const bool classes =
      are_classes(labels.dtype(), labels.shape(), units_, steps);
  const Shape row = !classes ? last.output : steps > 0 ? Shape{steps} : Shape{};
  const Tensor& part =
      take_rows(staged_labels_, labels, rows.first, rows.count, row);
  const View to =
      target_.at(0, {rows.count * last.output.elements() / units_, units_});
  if (classes)
    device_->upload_one_hot(to, part);
  else if (target_shift_.empty())
    device_->upload(to, part);
  else
    device_->upload_scaled(to, part, target_shift_, target_scale_);
}

// What each label counts, see Batch.  steps: the mask of the features.
View Lane::load_mask(const Batch& batch, View steps, Share rows) {
  const Tensor* mask = batch.mask;
  const LayerLayout& last = common_.layout->layers.back();
  const std::int64_t each = last.output_steps ? last.output[0] : 1;
  const View all = mask_.at(0, {rows.count * each});
  if (mask == nullptr)
    return last.output_steps && !steps.empty() ? steps.reshaped(all.shape)
                                               : View{};
  if (last.output_steps) {
    staged_mask_.resize(tensor::DType::kF64, all.shape);
    const bool by_step = mask->shape() == Shape{rows.total, each};
    const Tensor* other =
        by_step || steps.empty() ? nullptr : batch.features_mask;
    for (std::int64_t i = 0; i < rows.count * each; ++i) {
      const std::int64_t at = rows.first * each + i;
      staged_mask_.as<double>()[static_cast<std::size_t>(i)] =
          mask->value(by_step ? at : at / each) *
          (other != nullptr ? other->value(at) : 1);
    }
    device_->upload(all, staged_mask_);
    return all;
  }
  const Shape one_value{};
  const Tensor& part =
      take_rows(staged_mask_, *mask, rows.first, rows.count, one_value);
  const View to = mask_.at(0, {rows.count});
  device_->upload(to, part);
  return to;
}

View Lane::forward(const Step& step) {
  View x = features_.at(0, common_.config->input.with_first(step.examples));
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (step.examples > 0 || sums(i)) x = layers_[i]->forward(x, step);
  return x;
}

void Lane::backward(const Step& step) {
  View dy = flow_[0].at(
      0, common_.layout->layers.back().output.with_first(step.examples));
  for (std::size_t i = layers_.size(); i-- > first_trained_;) {
    if (step.examples == 0 && !sums(i)) continue;
    const View& other = flow_[dy.data == flow_[0].data ? 1 : 0];
    const Shape& input = common_.layout->layers[i].input;
    const View dx = i == first_trained_
                        ? View{}
                        : other.at(0, input.with_first(step.examples));
    dy = layers_[i]->backward(dx, dy, step);
  }
}

double Lane::train(const Batch& batch, const Position& at) {
  const Share rows = share(batch.examples());
  Step step{.training = true,
            .examples = rows.count,
            .first = rows.first,
            .total = rows.total,
            .at = at,
            .lanes = this,
            .mask = {}};
  double loss = 0;
  View mask;
  if (rows.count > 0) {
    load_features(*batch.features, rows);
    step.mask = load_steps(batch.features_mask, rows);
    load_labels(*batch.labels, rows);
    mask = load_mask(batch, step.mask, rows);
  }
  const View y = forward(step);
  if (rows.count > 0) {
    const std::int64_t units = y.shape.back();
    const Shape flat{y.elements() / units, units};
    loss = output_->loss(flow_[0].at(0, flat), target_.at(0, flat), mask,
                         1.0 / static_cast<double>(rows.total));
  }
  backward(step);
  return loss;
}

void Lane::freeze(Lane& first) {
  for (std::size_t i = layers_.size(); i-- > 0;) {
    Layer* before = i > 0 ? layers_[i - 1].get() : nullptr;
    if (&first == this)
      layers_[i]->freeze(before);
    else
      layers_[i]->freeze_like(*first.layers_[i], before);
  }
}

void Lane::predict(const Tensor& features, const Tensor* features_mask,
                   Tensor& outputs) {
  const Share mine = share(features.shape()[0]);
  const std::int64_t end = mine.first + mine.count;
  Step step;
  for (std::int64_t first = mine.first; first < end; first += step.examples) {
    step.examples = std::min(max_batch_, end - first);
    const Share rows{first, step.examples, mine.total};
    load_features(features, rows);
    step.mask = load_steps(features_mask, rows);
    const View y = forward(step);
    device_->download(staged_outputs_, y);
    common_.normalizers->targets.undo(staged_outputs_.as<float>());
    std::ranges::copy(
        staged_outputs_.as<float>(),
        outputs.as<float>().begin() + first * (y.elements() / step.examples));
  }
}

}  // namespace dl::nn
