// Matrix products of dense and output, and the dense layer.

#include "libcore/nn/dense.h"

#include "libcore/nn/fused_activation.h"

namespace dl::nn {

using tensor::View;

Linear::Linear(const LayerSite& site)
    : device_(site.device),
      inputs_(site.input.elements() / site.steps),
      units_(site.output.elements() / site.steps),
      product_(device_->dense()),
      own_weight_(site.weight.reshaped({units_, inputs_})),
      own_bias_(site.bias),
      weight_gradient_(site.weight_gradient.reshaped(own_weight_.shape)),
      bias_gradient_(site.bias_gradient),
      weight_(own_weight_),
      bias_(own_bias_) {}

View Linear::flat(View v, std::int64_t columns) {
  return v.reshaped({v.elements() / columns, columns});
}

void Linear::forward(View y, View x) {
  x_ = flat(x, inputs_);
  product_->forward(flat(y, units_), x_, weight_, bias_);
}

bool Linear::freeze(const Scaling& scaling, const tensor::ActivationSpec& f) {
  weight_ = own_weight_;
  bias_ = own_bias_;
  folded_ = {};
  if (!scaling.empty()) {
    folded_ = fold(*device_, weight_, bias_, scaling);
    weight_ = folded_.weight->view();
    bias_ = folded_.bias->view();
  }
  if (!product_->freeze(weight_, bias_, f)) return false;
  weight_ = bias_ = {};
  return true;
}

void Linear::backward(View dx, View dy) {
  dy = flat(dy, units_);
  device_->matmul(weight_gradient_, dy, true, x_, false, 0);
  if (!bias_.empty()) device_->sum_rows(bias_gradient_, dy);
  if (!dx.empty())
    device_->matmul(flat(dx, inputs_), dy, false, weight_, false, 0);
}

void Linear::freeze_like(const Linear& twin) {
  folded_ = {};
  weight_ = bias_ = {};
  product_->freeze_like(*twin.product_);
}

namespace {

class Dense final : public Layer {
 public:
  Dense(const LayerSite& site, Memory& memory)
      : site_(site), linear_(site), activation_(site, memory) {}

  bool absorb(const Scaling& scaling) override {
    if (site_.config->activation.kind != tensor::Activation::kIdentity)
      return false;
    scaling_ = scaling;
    return true;
  }

  void freeze(Layer*) override {
    frozen_ = linear_.freeze(scaling_, site_.config->activation);
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
  Linear linear_;
  FusedActivation activation_;
  Scaling scaling_;      // of the batch normalisation behind
  bool frozen_ = false;  // the product has weights, bias and activation
  View y_;
};

}  // namespace

std::unique_ptr<Layer> make_dense(const LayerSite& site, Memory& memory) {
  return std::make_unique<Dense>(site, memory);
}

}  // namespace dl::nn
