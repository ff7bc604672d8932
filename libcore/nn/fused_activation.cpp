// Activations in place.

#include "libcore/nn/fused_activation.h"

namespace dl::nn {

using tensor::Activation;
using tensor::View;

bool gradient_needs_input(const tensor::ActivationSpec& f) {
  return f.kind == Activation::kGelu || f.kind == Activation::kSoftplus;
}

FusedActivation::FusedActivation(const LayerSite& site, Memory& memory)
    : device_(site.device), f_(site.config->activation) {
  if (site.training && gradient_needs_input(f_))
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

}  // namespace dl::nn
