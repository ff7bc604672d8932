// Convolution, bias and activation.

#include "libcore/nn/fused_activation.h"
#include "libcore/nn/layout.h"

namespace dl::nn {
namespace {

using tensor::View;

class Conv2d final : public Layer {
 public:
  Conv2d(const LayerSite& site, Memory& memory)
      : site_(site),
        activation_(site, memory),
        kernel_(site.device->conv2d(conv2d_spec(*site.config, site.input),
                                    site.max_batch)) {}

  View forward(View x, const Step& step) override {
    x_ = x;
    y_ = site_.result_of(step.examples);
    kernel_->forward(y_, x, site_.weight, site_.bias);
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
  FusedActivation activation_;
  std::unique_ptr<tensor::Conv2d> kernel_;
  View x_, y_;
};

}  // namespace

std::unique_ptr<Layer> make_conv2d(const LayerSite& site, Memory& memory) {
  return std::make_unique<Conv2d>(site, memory);
}

}  // namespace dl::nn
