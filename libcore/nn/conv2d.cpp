// Convolution, bias and activation.

#include "libcore/nn/fold.h"
#include "libcore/nn/fused_activation.h"
#include "libcore/nn/layout.h"

namespace dl::nn {
namespace {

using tensor::View;

class Conv2d final : public Layer {
 public:
  Conv2d(const LayerSite& site, Memory& memory)
      : site_(site),
        weight_(site.weight),
        bias_(site.bias),
        activation_(site, memory),
        kernel_(site.device->conv2d(conv2d_spec(*site.config, site.input),
                                    site.max_batch)) {}

  bool absorb(const Scaling& scaling) override {
    if (site_.config->activation.kind != tensor::Activation::kIdentity)
      return false;
    scaling_ = scaling;
    return true;
  }

  void freeze(Layer*) override {
    weight_ = site_.weight;
    bias_ = site_.bias;
    folded_ = {};
    if (!scaling_.empty()) {
      folded_ = fold(*site_.device, weight_, bias_, scaling_);
      weight_ = folded_.weight->view();
      bias_ = folded_.bias->view();
    }
    scaling_ = {};
    frozen_ = kernel_->freeze(weight_, bias_, site_.config->activation);
    if (frozen_) folded_ = {};  // the kernel has its copy
  }

  void freeze_like(Layer& twin, Layer* before) override {
    auto& other = static_cast<Conv2d&>(twin);
    if (!other.frozen_) return freeze(before);
    scaling_ = {};
    kernel_->freeze_like(*other.kernel_);
    frozen_ = true;
  }

  View forward(View x, const Step& step) override {
    x_ = x;
    y_ = site_.result_of(step.examples);
    if (frozen_) {
      kernel_->forward(y_, x, {}, {});
      return y_;
    }
    kernel_->forward(y_, x, weight_, bias_);
    activation_.forward(y_, step.training);
    return y_;
  }

  View backward(View dx, View dy, const Step&) override {
    activation_.backward(dy, y_);
    kernel_->backward_weights(site_.weight_gradient, site_.bias_gradient, x_,
                              dy);
    if (!dx.empty()) kernel_->backward_data(dx, dy, site_.weight);
    return dx;
  }

 private:
  LayerSite site_;
  View weight_, bias_;  // the site's or folded_
  Scaling scaling_;     // of the batch normalisation behind
  Folded folded_;
  bool frozen_ = false;  // the kernel has weights, bias and activation
  FusedActivation activation_;
  std::unique_ptr<tensor::Conv2d> kernel_;
  View x_, y_;
};

}  // namespace

std::unique_ptr<Layer> make_conv2d(const LayerSite& site, Memory& memory) {
  return std::make_unique<Conv2d>(site, memory);
}

}  // namespace dl::nn
