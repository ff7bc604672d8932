// y = f(W x + b)

#include "libcore/nn/keys.h"
#include "libcore/nn/layers/fused_activation.h"
#include "libcore/nn/layers/linear.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class Dense final : public Layer {
 public:
  Dense(const LayerSite& site, Memory& memory)
      : site_(site),
        f_(site.settings->activation("activation")),
        linear_(site),
        activation_(site, f_, memory) {}

  bool absorb(const Scaling& scaling) override {
    if (f_.kind != tensor::Activation::kIdentity) return false;
    scaling_ = scaling;
    return true;
  }

  void freeze(Layer*) override {
    frozen_ = linear_.freeze(scaling_, f_);
    scaling_ = {};
  }

  void freeze_like(Layer& twin, Layer* before) override {
    const auto& other = static_cast<Dense&>(twin);
    if (!other.frozen_) return freeze(before);
    scaling_ = {};
    linear_.freeze_like(other.linear_);
    frozen_ = true;
  }

  View forward(View x, const Step& step) override {
    y_ = site_.result_of(step.examples);
    linear_.forward(y_, x);
    if (!frozen_) activation_.forward(y_, step.training);
    return y_;
  }

  View backward(View dx, View dy, const Step&) override {
    activation_.backward(dy, y_);
    linear_.backward(dx, dy);
    return dx;
  }

 private:
  LayerSite site_;
  tensor::ActivationSpec f_;
  Linear linear_;
  FusedActivation activation_;
  Scaling scaling_;      // of the batch normalisation behind
  bool frozen_ = false;  // the product has weights, bias and activation
  View y_;
};

Blueprint plan(const Settings& settings, std::span<const Form> inputs) {
  Blueprint plan = plan_linear(settings, inputs[0]);
  plan.flops += activation_flops(settings, plan.output.shape);
  return plan;
}

}  // namespace

const LayerType& dense() {
  static const LayerType type{
      .name = "dense",
      .other_names = {"linear", "fullyconnected"},
      .keys = {key::units(), key::bias(), key::activation(R"("identity")")},
      .trains = Trains::kWeights,
      .plan = plan,
      .make = make<Dense>};
  return type;
}

}  // namespace dl::nn::layers
