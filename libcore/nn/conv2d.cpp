// Convolution, bias and activation; with a max pooling layer behind it, that as
// well (pools_at_once()): the activation then comes last, where three of four
// values are gone.

#include "libcore/nn/fold.h"
#include "libcore/nn/fused_activation.h"
#include "libcore/nn/layout.h"

namespace dl::nn {
namespace {

using tensor::Activation;
using tensor::View;

class Conv2d final : public Layer {
 public:
  Conv2d(const LayerSite& site, Memory& memory, bool pools)
      : site_(site),
        pools_(pools),
        weight_(site.weight),
        bias_(site.bias),
        activation_(site, memory),
        kernel_(make_kernel(site, pools)) {}

  bool absorb(const Scaling& scaling) override {
    // The largest of four may be the smallest once it is scaled.
    if (pools_ || site_.config->activation.kind != Activation::kIdentity)
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
  static std::unique_ptr<tensor::Conv2d> make_kernel(const LayerSite& site,
                                                     bool pools) {
    const tensor::Conv2dSpec spec = conv2d_spec(*site.config, site.input);
    return pools ? site.device->conv2d_max_pool(spec, site.max_batch)
                 : site.device->conv2d(spec, site.max_batch);
  }

  LayerSite site_;
  bool pools_;
  View weight_, bias_;  // the site's or folded_
  Scaling scaling_;     // of the batch normalisation behind
  Folded folded_;
  bool frozen_ = false;  // the kernel has weights, bias and activation
  FusedActivation activation_;
  std::unique_ptr<tensor::Conv2d> kernel_;
  View x_, y_;
};

// Stands where the configuration has the pooling layer.
class Passed final : public Layer {
 public:
  View forward(View x, const Step&) override { return x; }
  View backward(View, View dy, const Step&) override { return dy; }
};

// max f(x) = f(max x) for these.
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

}  // namespace

std::unique_ptr<Layer> make_conv2d(const LayerSite& site, Memory& memory,
                                   bool pools) {
  return std::make_unique<Conv2d>(site, memory, pools);
}

std::unique_ptr<Layer> make_passed() { return std::make_unique<Passed>(); }

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

}  // namespace dl::nn
