// Products, bias and gradients of dense and output.

#include "libcore/nn/layers/parts/linear.h"

#include "libcore/nn/layers/parts/fused_activation.h"

namespace dl::nn::layers {

using tensor::Shape;
using tensor::View;

LayerShape infer_linear(const LayerSettings& settings, const ValueSpec& input) {
  const std::int64_t units = settings.integer("units");
  const bool bias = settings.flag("bias");
  const std::int64_t steps = input.steps ? input.shape[0] : 1;
  const std::int64_t inputs = input.shape.elements() / steps;
  const bool tied = settings.has("tied_to");
  LayerShape plan{
      .output = {input.steps ? Shape{steps, units} : Shape{units}, input.steps,
                 input.copies},
      .parameters = {{.name = "weight",
                      .shape = tied ? checked_shape({inputs, units}, "weight")
                                    : checked_shape({units, inputs}, "weight"),
                      .fan_in = inputs,
                      .fan_out = units}}};
  if (bias)
    plan.parameters.push_back(
        {.name = "bias", .shape = {units}, .role = Role::kBias});
  plan.flops = numbers_in(plan.output.shape) *
               (2 * static_cast<double>(inputs) + (bias ? 1 : 0));
  plan.flops += activation_flops(settings, plan.output.shape);
  plan.buffers = activated(settings);
  plan.step_by_step = true;
  return plan;
}

Linear::Linear(const LayerSite& site)
    : device_(site.device),
      inputs_(site.parameters[0].shape[1]),
      units_(site.parameters[0].shape[0]),
      product_(device_->dense()),
      own_weight_(site.parameters[0]),
      own_bias_(site.parameter(1)),
      weight_gradient_(site.gradient(0)),
      bias_gradient_(site.frozen ? View{} : site.gradient(1)),
      weight_(own_weight_),
      bias_(own_bias_),
      tied_(site.settings->has("tied_to")),
      transposed_(tied_),
      joint_(site.joint) {
  if (tied_) std::swap(inputs_, units_);
  rows_each_ = site.inputs[0].copies * site.input().elements() / inputs_;
  // Whether a weight of another layer is trained is for that to say.
  if (site.frozen && !tied_) weight_gradient_ = {};
}

View Linear::flat(View v, std::int64_t columns) {
  return v.reshaped({v.elements() / columns, columns});
}

View Linear::all_rows(View room, std::int64_t columns, const Step& step) const {
  return room.at(0, {step.total * rows_each_, columns});
}

void Linear::give(View all, View own, const Step& step) {
  const std::int64_t first = step.first * rows_each_ * own.shape[1];
  if (step.examples > 0) device_->copy(all.at(first, own.shape), own);
}

void Linear::take(View own, View all, const Step& step) {
  const std::int64_t first = step.first * rows_each_ * own.shape[1];
  if (step.examples > 0) device_->copy(own, all.at(first, own.shape));
}

void Linear::forward(View y, View x, const Step& step) {
  y = flat(y, units_);
  x = flat(x, inputs_);
  // In prediction lanes go through their examples at their own pace.
  if (!joint_ || !step.training) return product(y, x, {});
  const View all_x = all_rows(joint_->given, inputs_, step),
             all_y = all_rows(joint_->made, units_, step);
  give(all_x, x, step);
  step.lanes->barrier();
  product(all_y, all_x, joint_->slice);
  step.lanes->barrier();
  take(y, all_y, step);
}

void Linear::product(View y, View x, device::Slice slice) {
  if (!transposed_) return product_->forward(y, x, weight_, bias_, slice);
  device_->matmul(y, x, false, weight_, false, 0);
  if (!bias_.empty()) device_->add_bias(y, bias_);
}

View Linear::upright() {
  if (!tied_) return own_weight_;
  if (!upright_) upright_ = device_->allocate({units_, inputs_});
  device_->copy_strided(
      device::Strided().over(units_, inputs_, 1).over(inputs_, 1, units_),
      upright_->view(), own_weight_, false);
  return upright_->view();
}

bool Linear::freeze(const Scaling& scaling, const device::ActivationSpec& f) {
  weight_ = upright();
  transposed_ = false;
  bias_ = own_bias_;
  folded_ = fold(*device_, weight_, bias_, scaling);
  if (!product_->freeze(weight_, bias_, f)) return false;
  weight_ = bias_ = {};
  return true;
}

void Linear::backward(View dx, View dy, View x, const Step& step) {
  dy = flat(dy, units_);
  x = flat(x, inputs_);
  if (!dx.empty()) dx = flat(dx, inputs_);
  if (!joint_) return gradients(dx, dy, x, {});
  const View all_x = all_rows(joint_->given, inputs_, step),
             all_dy =
                 all_rows(joint_->given.at(all_x.elements(), {}), units_, step),
             all_dx = dx.empty() ? dx : all_rows(joint_->made, inputs_, step);
  give(all_x, x, step);
  give(all_dy, dy, step);
  step.lanes->barrier();
  gradients(all_dx, all_dy, all_x, joint_->slice);
  step.lanes->barrier();
  if (!dx.empty()) take(dx, all_dx, step);
}

void Linear::gradients(View dx, View dy, View x, device::Slice slice) {
  if (!weight_gradient_.empty() && tied_)
    device_->matmul(weight_gradient_, x, true, dy, false, 0);
  else if (!weight_gradient_.empty())
    product_->backward_weights(weight_gradient_, x, dy, slice);
  if (!bias_gradient_.empty() && slice.index == 0)
    device_->sum_rows(bias_gradient_, dy);
  if (dx.empty()) return;
  if (tied_)
    device_->matmul(dx, dy, false, weight_, true, 0);
  else
    product_->backward_data(dx, dy, weight_, slice);
}

void Linear::freeze_like(const Linear& twin) {
  folded_ = {};
  weight_ = bias_ = {};
  transposed_ = false;
  product_->freeze_like(*twin.product_);
}

}  // namespace dl::nn::layers
