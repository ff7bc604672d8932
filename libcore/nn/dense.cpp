// Matrix products of dense and output, and the dense layer.

#include "libcore/nn/dense.h"

#include "libcore/nn/fused_activation.h"

namespace dl::nn {

using tensor::View;

Linear::Linear(const LayerSite& site)
    : device_(site.device),
      inputs_(site.input.elements()),
      weight_(site.weight.reshaped({site.output.elements(), inputs_})),
      bias_(site.bias),
      weight_gradient_(site.weight_gradient.reshaped(weight_.shape)),
      bias_gradient_(site.bias_gradient) {}

View Linear::flat(View v) const { return v.reshaped({v.shape[0], inputs_}); }

void Linear::forward(View y, View x) {
  x_ = flat(x);
  device_->matmul(y, x_, false, weight_, true, 0);
  if (!bias_.empty()) device_->add_bias(y, bias_);
}

void Linear::backward(View dx, View dy) {
  device_->matmul(weight_gradient_, dy, true, x_, false, 0);
  if (!bias_.empty()) device_->sum_rows(bias_gradient_, dy);
  if (!dx.empty()) device_->matmul(flat(dx), dy, false, weight_, false, 0);
}

namespace {

class Dense final : public Layer {
 public:
  Dense(const LayerSite& site, Memory& memory)
      : site_(site), linear_(site), activation_(site, memory) {}

  View forward(View x, const Step& step) override {
    y_ = site_.result_of(step.examples);
    linear_.forward(y_, x);
    activation_.forward(y_, step.training);
    return y_;
  }

  View backward(View dx, View dy, const Step&) override {
    activation_.backward(dy, y_);
    linear_.backward(dx, dy);
    return dx;
  }

 private:
  LayerSite site_;
  Linear linear_;
  FusedActivation activation_;
  View y_;
};

}  // namespace

std::unique_ptr<Layer> make_dense(const LayerSite& site, Memory& memory) {
  return std::make_unique<Dense>(site, memory);
}

}  // namespace dl::nn
