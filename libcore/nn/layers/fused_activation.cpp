// Activations in place.

#include "libcore/nn/layers/fused_activation.h"

#include "libcore/nn/layer_type.h"

namespace dl::nn::layers {

using tensor::Activation;
using tensor::View;

double activation_flops(const Settings& settings, const tensor::Shape& output) {
  const Activation kind = settings.activation("activation").kind;
  return kind == Activation::kIdentity ? 0 : numbers_in(output);
}

FusedActivation::FusedActivation(const LayerSite& site,
                                 const tensor::ActivationSpec& f,
                                 Memory& memory)
    : device_(site.device), f_(f) {
  if (site.training && tensor::gradient_needs_input(f_.kind))
    input_ = memory.allocate(site.output.with_first(site.max_batch));
}

void FusedActivation::forward(View y, bool training) {
  if (f_.kind == Activation::kIdentity) return;
  if (training && !input_.empty()) device_->copy(input_.at(0, y.shape), y);
  device_->activate(f_, y, y);
}

void FusedActivation::backward(View dy, View y) {
  if (f_.kind == Activation::kIdentity) return;
  const View x = input_.empty() ? View{} : input_.at(0, y.shape);
  device_->activate_gradient(f_, dy, dy, y, x);
}

}  // namespace dl::nn::layers
