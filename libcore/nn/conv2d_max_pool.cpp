// Convolution, 2x2 max pooling and activation in one layer: what two layers of
// the configuration say.  The activation never decreases, so that it may come
// last, where three of four values are gone: max f(x) = f(max x).

#include "libcore/nn/fused_activation.h"
#include "libcore/nn/layout.h"

namespace dl::nn {
namespace {

using tensor::Activation;
using tensor::View;

bool never_decreases(const tensor::ActivationSpec& f) {
  switch (f.kind) {
    case Activation::kIdentity:
    case Activation::kRelu:
    case Activation::kSigmoid:
    case Activation::kTanh:
    case Activation::kSoftplus:
      return true;
    case Activation::kLeakyRelu:
    case Activation::kElu:
      return f.alpha >= 0;
    case Activation::kGelu:
    case Activation::kSoftmax:
      return false;
  }
  return false;
}

class Conv2dMaxPool final : public Layer {
 public:
  Conv2dMaxPool(const LayerSite& site, Memory& memory)
      : site_(site),
        activation_(site, memory),
        kernel_(site.device->conv2d_max_pool(
            conv2d_spec(*site.config, site.input), site.max_batch)) {}

  void freeze(Layer*) override {
    frozen_ =
        kernel_->freeze(site_.weight, site_.bias, site_.config->activation);
  }

  View forward(View x, const Step& step) override {
    x_ = x;
    y_ = site_.result_of(step.examples);
    if (frozen_) {
      kernel_->forward(y_, x, {}, {});
      return y_;
    }
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
  bool frozen_ = false;  // the kernel has weights, bias and activation
  View x_, y_;
};

// Stands where the configuration has the pooling layer.
class Passed final : public Layer {
 public:
  View forward(View x, const Step&) override { return x; }
  View backward(View, View dy, const Step&) override { return dy; }
};

}  // namespace

bool pools_at_once(const LayerConfig& layer, const LayerConfig& next,
                   const tensor::Shape& between) {
  if (layer.type != LayerType::kConv2d || next.type != LayerType::kMaxPool2d ||
      !never_decreases(layer.activation))
    return false;
  const tensor::Pool2dSpec pool = pool2d_spec(next, between);
  for (int axis = 0; axis < 2; ++axis)
    if (pool.kernel[axis] != 2 || pool.stride[axis] != 2 ||
        pool.pad_begin[axis] != 0 || pool.pad_end[axis] != 0)
      return false;
  return true;
}

std::unique_ptr<Layer> make_conv2d_max_pool(const LayerSite& site,
                                            Memory& memory) {
  return std::make_unique<Conv2dMaxPool>(site, memory);
}

std::unique_ptr<Layer> make_passed() { return std::make_unique<Passed>(); }

}  // namespace dl::nn
