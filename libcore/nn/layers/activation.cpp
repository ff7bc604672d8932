// An activation by itself.

#include "libcore/nn/keys.h"
#include "libcore/nn/layers/fused_activation.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class ActivationLayer final : public Layer {
 public:
  ActivationLayer(const LayerSite& site, Memory&)
      : site_(site), f_(site.settings->activation("activation")) {}

  View forward(View x, const Step& step) override {
    x_ = x;
    y_ = site_.result_of(step.examples);
    site_.device->activate(f_, y_, x);
    return y_;
  }

  View backward(View, View dy, const Step&) override {
    site_.device->activate_gradient(f_, dy, dy, y_, x_);
    return dy;
  }

 private:
  LayerSite site_;
  tensor::ActivationSpec f_;
  View x_, y_;
};

Blueprint plan(const Settings& settings, std::span<const Form> inputs) {
  return {.output = inputs[0],
          .flops = activation_flops(settings, inputs[0].shape)};
}

}  // namespace

const LayerType& activation() {
  static const LayerType type{
      .name = "activation",
      .keys = {key::activation("required", "Applied to the inputs.")},
      .plan = plan,
      .make = make<ActivationLayer>};
  return type;
}

}  // namespace dl::nn::layers
