// An activation by itself.

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/fused_activation.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class ActivationLayer final : public Layer {
 public:
  ActivationLayer(const LayerSite& site, Memory&)
      : device_(site.device), f_(site.settings->activation("activation")) {}

  void forward(const Flow& flow, const Step&) override {
    device_->activate(f_, flow.y, flow.x[0]);
  }

  void backward(const Flow& flow, const Step&) override {
    const View x = device::gradient_needs_input(f_.kind) ? flow.x[0] : View{};
    device_->activate_gradient(f_, flow.dx[0], flow.dy, flow.y, x);
  }

 private:
  device::Device* device_;
  device::ActivationSpec f_;
};

LayerShape infer_activation(const LayerSettings& settings,
                            std::span<const ValueSpec> inputs) {
  return {.output = inputs[0],
          .flops = activation_flops(settings, inputs[0].shape),
          .buffers = {.in_place = true,
                      .gradient_in_place = true,
                      .keeps_inputs = device::gradient_needs_input(
                          settings.activation("activation").kind)},
          .step_by_step = true};
}

}  // namespace

const LayerType& activation() {
  static const LayerType type{
      .name = "activation",
      .words = "An activation function as a layer of its own.",
      .keys = {key::activation("required", "Applied to the inputs.")},
      .infer = infer_activation,
      .make = make<ActivationLayer>};
  return type;
}

}  // namespace dl::nn::layers
