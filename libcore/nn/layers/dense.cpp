// y = f(W x + b)

#include "libcore/nn/layers/dense.h"

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/fused_activation.h"
#include "libcore/nn/layers/parts/linear.h"

namespace dl::nn::layers {
namespace {

class Dense final : public Layer {
 public:
  Dense(const LayerSite& site, Memory& memory)
      : f_(site.settings->activation("activation")),
        linear_(site),
        activation_(site, f_, memory) {}

  void absorb(const Scaling& scaling) override { scaling_ = scaling; }

  void freeze() override {
    frozen_ = linear_.freeze(scaling_, f_);
    scaling_ = {};
  }

  void freeze_like(Layer& twin) override {
    const auto& other = static_cast<Dense&>(twin);
    if (!other.frozen_) return freeze();
    scaling_ = {};
    linear_.freeze_like(other.linear_);
    frozen_ = true;
  }

  void forward(const Flow& flow, const Step& step) override {
    linear_.forward(flow.y, flow.x[0], step);
    if (!frozen_) activation_.forward(flow.y, step.training);
  }

  void backward(const Flow& flow, const Step& step) override {
    activation_.backward(flow.dy, flow.y);
    linear_.backward(flow.dx[0], flow.dy, flow.x[0], step);
  }

 private:
  device::ActivationSpec f_;
  Linear linear_;
  FusedActivation activation_;
  Scaling scaling_;      // of the batch normalization behind
  bool frozen_ = false;  // the product has weights, bias and activation
};

LayerShape infer_dense(const LayerSettings& settings,
                       std::span<const ValueSpec> inputs) {
  return infer_linear(settings, inputs[0]);
}

}  // namespace

std::unique_ptr<Layer> make_dense(const LayerSite& site, Memory& memory) {
  return make<Dense>(site, memory);
}

const LayerType& dense() {
  static const LayerType type{
      .name = "dense",
      .words =
          "y = f(W x + b).\n"
          "The input is flattened in row-major order, whatever its shape; a "
          "sequence is\n"
          "taken step by step.\n"
          "W is [units, inputs].\n"
          "With *tied_to* W is the transposed weight of another layer, such as "
          "the encoder of an\n"
          "autoencoder, which owns it: its [inputs, units] are this layer's "
          "[units, inputs], its keys\n"
          "set the initialization and training, and the gradients of both add "
          "up.\n"
          "The bias is the layer's own.",
      .other_names = {"linear", "fullyconnected"},
      .keys = {key::units(), key::bias(), key::activation(R"("identity")"),
               key::tied_to()},
      .trains = Trains::kWeights,
      .absorbs = is_linear,
      .activates = true,
      .divides = true,
      .infer = infer_dense,
      .make = make_dense};
  return type;
}

}  // namespace dl::nn::layers
