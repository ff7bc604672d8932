// Layers without parameters that work element by element: activation, and
// flatten, which only changes the shape.

#include "libcore/nn/fused_activation.h"

namespace dl::nn {
namespace {

using tensor::View;

class ActivationLayer final : public Layer {
 public:
  explicit ActivationLayer(const LayerSite& site) : site_(site) {}

  View forward(View x, const Step& step) override {
    x_ = x;
    y_ = site_.result_of(step.examples);
    site_.device->activate(site_.config->activation, y_, x);
    return y_;
  }

  View backward(View, View dy, const Step&) override {
    site_.device->activate_gradient(site_.config->activation, dy, dy, y_, x_);
    return dy;
  }

 private:
  LayerSite site_;
  View x_, y_;
};

class Flatten final : public Layer {
 public:
  explicit Flatten(const LayerSite& site) : site_(site) {}

  View forward(View x, const Step&) override {
    return x.reshaped(site_.output.with_first(x.shape[0]));
  }

  View backward(View, View dy, const Step&) override {
    return dy.reshaped(site_.input.with_first(dy.shape[0]));
  }

 private:
  LayerSite site_;
};

}  // namespace

std::unique_ptr<Layer> make_activation(const LayerSite& site) {
  return std::make_unique<ActivationLayer>(site);
}

std::unique_ptr<Layer> make_flatten(const LayerSite& site) {
  return std::make_unique<Flatten>(site);
}

}  // namespace dl::nn
