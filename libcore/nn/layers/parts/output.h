// A dense layer with a loss, for sequences at each step.  Where the loss is
// computed from the logits (activation_inside() in device/api/loss.h), the
// activation is left out in training; other pairs go through it and its
// gradient.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_OUTPUT_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_OUTPUT_H_

#include <vector>

#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/fused_activation.h"
#include "libcore/nn/layers/parts/linear.h"
#include "libcore/nn/layers/parts/loss.h"

namespace dl::nn::layers {

// units, bias, activation and loss_keys(), and what follows from them.
std::vector<Key> output_keys();

class Output : public OutputLayer {
 public:
  Output(const LayerSite& site, Memory& memory)
      : f_(site.settings->activation("activation")),
        linear_(site),
        activation_(site, f_, memory),
        loss_(site, memory) {}

  void freeze() override { frozen_ = linear_.freeze({}, f_); }

  void freeze_like(Layer& twin) override {
    const auto& other = static_cast<Output&>(twin);
    if (!other.frozen_) return freeze();
    linear_.freeze_like(other.linear_);
    frozen_ = true;
  }

  void forward(const Flow& flow, const Step& step) override {
    linear_.forward(flow.y, flow.x[0], step);
    if (!frozen_ && !(loss_.takes_logits() && step.training))
      activation_.forward(flow.y, step.training);
  }

  void loss(tensor::View grad, tensor::View y, tensor::View target,
            tensor::View mask, double scale) override {
    loss_.compute(grad, y, target, mask, scale);
  }

  void backward(const Flow& flow, const Step& step) override {
    if (!loss_.takes_logits()) activation_.backward(flow.dy, flow.y);
    linear_.backward(flow.dx[0], flow.dy, flow.x[0], step);
  }

 private:
  device::ActivationSpec f_;
  Linear linear_;
  FusedActivation activation_;
  OutputLoss loss_;
  bool frozen_ = false;  // the product has weights, bias and activation
};

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_OUTPUT_H_
