// Steps of sequences, chosen by where their padding is.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_CHOSEN_STEPS_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_CHOSEN_STEPS_H_

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/rows.h"
#include "libcore/nn/layers/parts/steps_hint.h"

namespace dl::nn {

// Part of a sequence that a reverse turns round.
enum class Turned { kCounted, kAll, kMask };

template <>
inline std::span<const std::string_view> names_of<Turned>() {
  static constexpr std::string_view kNames[] = {"counted", "all", "mask"};
  return kNames;
}

namespace layers {

using tensor::View;

inline Turned turned_of(const LayerSettings& settings) {
  return settings.has("turns") ? settings.one_of<Turned>("turns")
                               : Turned::kCounted;
}

// Rows of [n * steps, features] by the mask of a sequence.
class ChosenSteps {
 public:
  ChosenSteps(const LayerSite& site, Memory& memory, device::StepChoice choice)
      : device_(site.device), choice_(choice) {
    const tensor::Shape all{site.max_batch, site.input()[0]};
    if (all.elements() > 0x7fffffff)
      throw Error{Code::kConfig, "a mini-batch has more than 2^31 - 1 steps"};
    ones_ = memory.allocate(all);
    device_->fill(ones_, 1);
    index_ = memory.allocate(
        choice == device::StepChoice::kLast ? tensor::Shape{all[0]} : all,
        tensor::DType::kI32);
  }

  // mask: [n, steps], or empty.  Also to be asked for afterwards.
  View choose(View mask, std::int64_t n) {
    chosen_ = index_.at(0, index_.shape.without_first().with_first(n));
    if (mask.empty())
      mask = ones_.at(0, ones_.shape.without_first().with_first(n));
    device_->choose_steps(chosen_, mask, choice_);
    chosen_ = chosen_.reshaped({chosen_.elements()});
    return chosen_;
  }
  View chosen() const { return chosen_; }

 private:
  device::Device* device_;
  device::StepChoice choice_;
  View ones_, index_;
  View chosen_;  // of the step in progress
};

class LastStep final : public Layer {
 public:
  LastStep(const LayerSite& site, Memory& memory)
      : device_(site.device), steps_(site, memory, device::StepChoice::kLast) {}

  void forward(const Flow& flow, const Step&) override {
    device_->gather(flow.y, as_rows(flow.x[0]),
                    steps_.choose(flow.masks[0], flow.y.shape[0]));
  }

  void backward(const Flow& flow, const Step&) override {
    device_->fill(flow.dx[0], 0);
    device_->scatter_add(as_rows(flow.dx[0]), flow.dy, steps_.chosen(), -1);
  }

 private:
  device::Device* device_;
  ChosenSteps steps_;
};

class Reverse final : public Layer {
 public:
  Reverse(const LayerSite& site, Memory& memory)
      : device_(site.device),
        turned_(turned_of(*site.settings)),
        steps_(site, memory, device::StepChoice::kReversed),
        mask_(memory.allocate({site.max_batch, site.input()[0]})) {}

  void forward(const Flow& flow, const Step&) override {
    const View index = steps_.choose(
        turned_ == Turned::kCounted ? flow.masks[0] : View{}, flow.y.shape[0]);
    if (turned_ == Turned::kMask)
      device_->copy(flow.y, flow.x[0]);
    else
      device_->gather(as_rows(flow.y), as_rows(flow.x[0]), index);
  }

  // Turned twice, they are as they were.
  void backward(const Flow& flow, const Step&) override {
    if (turned_ == Turned::kMask)
      device_->copy(flow.dx[0], flow.dy);
    else
      device_->gather(as_rows(flow.dx[0]), as_rows(flow.dy), steps_.chosen());
  }

  // Mask after padding was turned as well.
  View mask(const Flow& flow) override {
    const View& mask = flow.masks[0];
    if (mask.empty()) return {};
    const View made = mask_.at(0, mask.shape);
    const std::int64_t steps = mask.elements();
    device_->gather(made.reshaped({steps, 1}), mask.reshaped({steps, 1}),
                    steps_.chosen());
    return made;
  }

 private:
  device::Device* device_;
  Turned turned_;
  ChosenSteps steps_;
  View mask_;
};

class Hold final : public Layer {
 public:
  Hold(const LayerSite& site, Memory& memory)
      : device_(site.device), steps_(site, memory, device::StepChoice::kHeld) {}

  void forward(const Flow& flow, const Step&) override {
    device_->gather(as_rows(flow.y), as_rows(flow.x[0]),
                    steps_.choose(flow.masks[0], flow.y.shape[0]));
  }

  void backward(const Flow& flow, const Step&) override {
    device_->fill(flow.dx[0], 0);
    device_->scatter_add(as_rows(flow.dx[0]), as_rows(flow.dy), steps_.chosen(),
                         -1);
  }

 private:
  device::Device* device_;
  ChosenSteps steps_;
};

template <bool last>
LayerShape infer_chosen_steps(const LayerSettings& settings,
                              std::span<const ValueSpec> inputs) {
  const ValueSpec& input = inputs[0];
  if (input.shape.rank() != 2)
    throw Error{Code::kConfig,
                "wants a sequence [steps, features], its input is " +
                    input.shape.to_string() + steps_hint(input.shape)};
  const bool makes = turned_of(settings) != Turned::kCounted;
  return {
      .output = last ? ValueSpec{{input.shape[1]}, false, input.copies} : input,
      .buffers = {.keeps_inputs = false, .keeps_output = false},
      .mask = makes ? MaskRule::kMade : MaskRule::kPassed};
}

}  // namespace layers
}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_CHOSEN_STEPS_H_
