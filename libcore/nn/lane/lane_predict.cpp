// Predicting a lane's share; and the states that layers carry from one part of
// a sequence to the next.

#include <algorithm>
#include <cstring>

#include "libcore/nn/lane/lane.h"

namespace dl::nn {

using tensor::Shape;
using tensor::Tensor;
using tensor::View;

void Lane::make_room_for_state() {
  if (has_room_for_state_) return;
  has_room_for_state_ = true;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::size_t layer = common_.plan->steps[i].layer;
    for (const CarriedSpec& part : common_.layout->layers[layer].carried)
      nodes_[i].state.push_back(
          memory_.allocate(part.shape.with_first(max_batch_)));
  }
}

void Lane::carry_state(std::int64_t examples, Carry carry) {
  if (carry != Carry::kNothing) make_room_for_state();
  for (Node& node : nodes_) {
    node.flow.state.clear();
    if (carry == Carry::kNothing) continue;
    for (const View& room : node.state) {
      const View view =
          room.at(0, room.shape.without_first().with_first(examples));
      if (carry == Carry::kAfresh && examples > 0) device_->fill(view, 0);
      node.flow.state.push_back(view);
    }
  }
}

// These rows to the layers, or back.
void Lane::move_state(Share rows, std::span<Tensor> state, bool in) {
  auto all = state.begin();
  for (Node& node : nodes_) {
    node.flow.state.clear();
    for (const View& room : node.state) {
      Tensor& own = *all++;
      const Shape row = room.shape.without_first();
      const View view = room.at(0, row.with_first(rows.count));
      node.flow.state.push_back(view);
      if (in) {
        device_->upload(view, take_rows(staged_state_, own, rows, row));
        continue;
      }
      device_->download(staged_state_, view);
      std::ranges::copy(staged_state_.as<float>(),
                        own.as<float>().begin() + rows.first * row.elements());
    }
  }
}

void Lane::predict(std::span<const Part> inputs, std::span<Prediction> outputs,
                   std::span<Tensor> state, bool alone) {
  const NetworkConfig& config = *common_.config;
  const std::int64_t n = inputs[0].values->shape()[0];
  const Share mine = alone ? Share{0, n, n} : share(n);
  const std::int64_t end = mine.first + mine.count;
  if (!state.empty()) make_room_for_state();
  for (Node& node : nodes_) node.flow.state.clear();
  Step step;
  for (std::int64_t first = mine.first; first < end; first += step.examples) {
    step.examples = std::min(max_batch_, end - first);
    const Share rows{first, step.examples, mine.total};
    load(inputs, rows);
    if (!state.empty()) move_state(rows, state, true);
    forward(step);
    if (!state.empty()) move_state(rows, state, false);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const Value v = config.value_of(config.outputs[i]);
      outputs_[i].download(value(v, step.examples), first, outputs[i].values);
      const View mask = mask_of(v);
      // The first lane has examples whenever there are any, and whether there
      // is a mask is the same for all.
      if (index_ == 0) outputs[i].masked = !mask.empty();
      if (!mask.empty())
        outputs_[i].download_mask(mask, first, outputs[i].steps);
    }
  }
}

}  // namespace dl::nn
