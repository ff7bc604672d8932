// The last layer.  Softmax with negative log likelihood and sigmoid with
// binary cross-entropy are computed with their loss, from the logits; other
// pairs go through the activation and its gradient.

#include "libcore/nn/dense.h"
#include "libcore/nn/fused_activation.h"

namespace dl::nn {
namespace {

using tensor::Activation;
using tensor::Loss;
using tensor::View;

bool fused_with_loss(const LayerConfig& config) {
  const Activation f = config.activation.kind;
  return (f == Activation::kSoftmax &&
          config.loss == Loss::kNegativeLogLikelihood) ||
         (f == Activation::kSigmoid &&
          config.loss == Loss::kBinaryCrossEntropy);
}

class Output final : public OutputLayer {
 public:
  Output(const LayerSite& site, Memory& memory)
      : site_(site),
        linear_(site),
        activation_(site, memory),
        fused_(fused_with_loss(*site.config)) {}

  void freeze(Layer*) override {
    frozen_ = linear_.freeze({}, site_.config->activation);
  }

  void freeze_like(Layer& twin, Layer* before) override {
    const auto& other = static_cast<Output&>(twin);
    if (!other.frozen_) return freeze(before);
    linear_.freeze_like(other.linear_);
    frozen_ = true;
  }

  View forward(View x, const Step& step) override {
    y_ = site_.result_of(step.examples);
    linear_.forward(y_, x);
    if (!frozen_ && !(fused_ && step.training))
      activation_.forward(y_, step.training);
    return y_;
  }

  double loss(View grad, View target, View mask, double scale) override {
    const Loss kind = site_.config->loss;
    const View y = y_.reshaped(target.shape);
    if (fused_)
      return site_.device->loss_with_logits(kind, grad, y, target, mask, scale);
    return site_.device->loss(kind, grad, y, target, mask, scale);
  }

  View backward(View dx, View dy, const Step&) override {
    if (!fused_) activation_.backward(dy, y_);
    linear_.backward(dx, dy);
    return dx;
  }

 private:
  LayerSite site_;
  Linear linear_;
  FusedActivation activation_;
  bool fused_;
  bool frozen_ = false;  // the product has weights, bias and activation
  View y_;
};

}  // namespace

std::unique_ptr<OutputLayer> make_output(const LayerSite& site,
                                         Memory& memory) {
  return std::make_unique<Output>(site, memory);
}

}  // namespace dl::nn
