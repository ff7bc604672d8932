// Makes steps that are all of one value padding.

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/rows.h"
#include "libcore/nn/layers/parts/steps_hint.h"

namespace dl::nn::layers {
namespace {

using tensor::DType;
using tensor::View;

bool is_clearing(const LayerSettings& settings) {
  return settings.has("clears") && settings.flag("clears");
}

class Masking final : public Layer {
 public:
  Masking(const LayerSite& site, Memory& memory)
      : device_(site.device), clears_(is_clearing(*site.settings)) {
    const tensor::Shape steps{site.max_batch, site.input()[0]},
        all = site.input().with_first(site.max_batch);
    if (site.mixed)
      throw Error{Code::kConfig,
                  "masking directly behind an input looks for a value of the "
                  "data, which --normalize pca and whiten leave none of: mark "
                  "the padding in the data, or use another normalizer"};
    difference_ = memory.allocate(all);
    // As inputs are loaded, so that what is equal stays so.
    tensor::Tensor value(DType::kF32, all);
    std::ranges::fill(value.as<float>(),
                      static_cast<float>(site.settings->number("value")));
    negative_ = memory.allocate(all);
    if (site.scale.empty())
      device_->upload(negative_, value);
    else
      device_->upload_scaled(negative_, value, site.shift, site.scale);
    device_->scale(negative_, -1);
    rounded_ = negative_;
    if (device_->activations() != device_->real()) {
      rounded_ = memory.allocate(all, device_->activations());
      device_->copy(rounded_, negative_);
    }
    which_ = memory.allocate(steps, DType::kI32);
    for (View* v : {&size_, &none_, &ones_, &mask_})
      *v = memory.allocate(steps);
    device_->fill(ones_, 1);
  }

  void forward(const Flow& flow, const Step&) override {
    const View x = flow.x[0];
    if (flow.y.data != x.data) device_->copy(flow.y, x);
    const tensor::Shape steps{x.shape[0], x.shape[1]};
    const View d = difference_.at(0, x.shape), size = size_.at(0, steps),
               which = which_.at(0, steps);
    const View& negative = x.dtype == rounded_.dtype ? rounded_ : negative_;
    device_->copy(d, negative.at(0, x.shape));
    device_->add(d, 1, flow.y);
    device_->dot_rows(size.reshaped({size.elements()}), as_rows(d), as_rows(d));
    // 1 where the size is larger than 0.
    const View both[] = {none_.at(0, steps), size};
    made_ = mask_.at(0, steps);
    device_->extreme(made_, which, both, tensor::Extreme::kMax);
    device_->take_where(made_, ones_.at(0, steps), which, 1);
    const View before = flow.masks[0];
    if (!before.empty()) device_->multiply(made_, made_, before);
    if (clears_) device_->mask_steps(flow.y, made_);
  }

  // Else it is passed on.
  void backward(const Flow& flow, const Step&) override {
    if (clears_) device_->scale_rows(flow.dx[0], flow.dy, made_, false);
  }

  View mask(const Flow&) override { return made_; }

 private:
  device::Device* device_;
  bool clears_;
  View negative_, rounded_;  // of the value; as steps may be kept
  View difference_, which_, size_, none_, ones_, mask_, made_;
};

LayerShape infer_masking(const LayerSettings& settings,
                         std::span<const ValueSpec> inputs) {
  const tensor::Shape& shape = inputs[0].shape;
  if (shape.rank() != 2)
    throw Error{Code::kConfig,
                "wants a sequence [steps, features], its input is " +
                    shape.to_string() + steps_hint(shape)};
  return {.output = {shape, true, inputs[0].copies},
          .flops = 3 * numbers_in(shape),
          .buffers = {.in_place = true,
                      .keeps_inputs = false,
                      .keeps_output = false,
                      .passes_gradient = !is_clearing(settings)},
          .mask = MaskRule::kMade,
          .step_by_step = true};
}

}  // namespace

const LayerType& masking() {
  static const LayerType type{
      .name = "masking",
      .words =
          "Marks steps of a sequence as padding if all their numbers are "
          "*value*.\n"
          "Existing padding stays padding.\n"
          "Directly behind an input of the network, *value* is in the units of "
          "the data before\n"
          "normalization; behind a layer, in those of the layer's output.",
      .other_names = {"maskzero", "maskinglayer"},
      .keys = {key::number("value", "0", "Number that marks padding.", kAny),
               key::flag("clears", "(false)",
                         "Sets all numbers of padding to 0.")},
      .reads_sequences = true,
      .infer = infer_masking,
      .make = make<Masking>};
  return type;
}

}  // namespace dl::nn::layers
