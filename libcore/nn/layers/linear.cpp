#include "libcore/nn/layers/linear.h"

#include "libcore/nn/layers/fused_activation.h"

namespace dl::nn::layers {

using tensor::Shape;
using tensor::View;

Blueprint plan_linear(const Settings& settings, const Form& input) {
  const std::int64_t units = settings.integer("units");
  const bool bias = settings.flag("bias");
  const std::int64_t steps = input.steps ? input.shape[0] : 1;
  const std::int64_t inputs = input.shape.elements() / steps;
  const bool tied = settings.has("tied_to");
  Blueprint plan{
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
  plan.manners = activated(settings);
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
      transposed_(tied_) {
  if (tied_) std::swap(inputs_, units_);
  // Whether a weight of another layer is trained is for that to say.
  if (site.frozen && !tied_) weight_gradient_ = {};
}

View Linear::flat(View v, std::int64_t columns) {
  return v.reshaped({v.elements() / columns, columns});
}

void Linear::forward(View y, View x) {
  y = flat(y, units_);
  if (!transposed_)
    return product_->forward(y, flat(x, inputs_), weight_, bias_);
  device_->matmul(y, flat(x, inputs_), false, weight_, false, 0);
  if (!bias_.empty()) device_->add_bias(y, bias_);
}

View Linear::upright() {
  if (!tied_) return own_weight_;
  if (!upright_) upright_ = device_->allocate({units_, inputs_});
  device_->copy_strided(
      tensor::Strided().over(units_, inputs_, 1).over(inputs_, 1, units_),
      upright_->view(), own_weight_, false);
  return upright_->view();
}

bool Linear::freeze(const Scaling& scaling, const tensor::ActivationSpec& f) {
  weight_ = upright();
  transposed_ = false;
  bias_ = own_bias_;
  folded_ = fold(*device_, weight_, bias_, scaling);
  if (!product_->freeze(weight_, bias_, f)) return false;
  weight_ = bias_ = {};
  return true;
}

void Linear::backward(View dx, View dy, View x) {
  dy = flat(dy, units_);
  x = flat(x, inputs_);
  if (!weight_gradient_.empty() && tied_)
    device_->matmul(weight_gradient_, x, true, dy, false, 0);
  else if (!weight_gradient_.empty())
    device_->matmul(weight_gradient_, dy, true, x, false, 0);
  if (!bias_gradient_.empty()) device_->sum_rows(bias_gradient_, dy);
  if (!dx.empty())
    device_->matmul(flat(dx, inputs_), dy, false, weight_, tied_, 0);
}

void Linear::freeze_like(const Linear& twin) {
  folded_ = {};
  weight_ = bias_ = {};
  transposed_ = false;
  product_->freeze_like(*twin.product_);
}

}  // namespace dl::nn::layers
