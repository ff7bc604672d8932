// A number that is multiplied or added.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_SCALE_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_SCALE_H_

#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

using tensor::View;

class Scale final : public Layer {
 public:
  Scale(const LayerSite& site, Memory&)
      : device_(site.device), factor_(site.settings->number("factor")) {}

  void forward(const Flow& flow, const Step&) override {
    scale(flow.y, flow.x[0]);
  }
  void backward(const Flow& flow, const Step&) override {
    scale(flow.dx[0], flow.dy);
  }

 private:
  void scale(View y, View x) {
    if (y.data != x.data) device_->copy(y, x);
    device_->scale(y, factor_);
  }

  device::Device* device_;
  double factor_;
};

class Shift final : public Layer {
 public:
  Shift(const LayerSite& site, Memory& memory)
      : device_(site.device),
        amount_(memory.allocate({site.output.shape.back()})) {
    device_->fill(amount_, site.settings->number("amount"));
  }

  void forward(const Flow& flow, const Step&) override {
    if (flow.y.data != flow.x[0].data) device_->copy(flow.y, flow.x[0]);
    device_->add_bias(flow.y, amount_);
  }
  void backward(const Flow&, const Step&) override {}  // is passed on

 private:
  device::Device* device_;
  View amount_;
};

template <bool shifts>
LayerShape infer_scale(const LayerSettings&,
                       std::span<const ValueSpec> inputs) {
  return {.output = inputs[0],
          .flops = numbers_in(inputs[0].shape),
          .buffers = {.in_place = true,
                      .gradient_in_place = !shifts,
                      .keeps_inputs = false,
                      .keeps_output = false,
                      .passes_gradient = shifts},
          .step_by_step = true};
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_SCALE_H_
