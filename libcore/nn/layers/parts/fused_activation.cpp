// Activations in place.

#include "libcore/nn/layers/parts/fused_activation.h"

namespace dl::nn::layers {

using device::Activation;
using tensor::View;

bool is_linear(const LayerSettings& settings) {
  return settings.activation("activation").kind == Activation::kIdentity;
}

BufferPolicy activated(const LayerSettings& settings) {
  const bool linear = is_linear(settings);
  return {.keeps_output = !linear, .spoils_gradient = !linear};
}

double activation_flops(const LayerSettings& settings,
                        const tensor::Shape& output) {
  return is_linear(settings) ? 0 : numbers_in(output);
}

FusedActivation::FusedActivation(const LayerSite& site,
                                 const device::ActivationSpec& f,
                                 Memory& memory)
    : device_(site.device), f_(f) {
  if (site.training && device::gradient_needs_input(f_.kind))
    input_ = memory.allocate(site.output.shape.with_first(site.max_batch));
}

bool FusedActivation::goes_by_output() const {
  return f_.kind != Activation::kIdentity && f_.kind != Activation::kSoftmax &&
         f_.kind != Activation::kLogSoftmax &&
         !device::gradient_needs_input(f_.kind);
}

void FusedActivation::forward(View y, bool training) {
  if (f_.kind == Activation::kIdentity) return;
  if (training && !input_.empty()) device_->copy(input_.at(0, y.shape), y);
  device_->activate(f_, y, y);
}

bool FusedActivation::backward(View dy, View y, View sums) {
  if (f_.kind == Activation::kIdentity) return false;
  if (!sums.empty() && goes_by_output() &&
      device_->activate_gradient_and_sum(f_, dy, dy, y, sums))
    return true;
  const View x = input_.empty() ? View{} : input_.at(0, y.shape);
  device_->activate_gradient(f_, dy, dy, y, x);
  return false;
}

}  // namespace dl::nn::layers
