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
  Blueprint plan{
      .output = {input.steps ? Shape{steps, units} : Shape{units}, input.steps,
                 input.copies},
      .parameters = {{.name = "weight",
                      .shape = checked_shape({units, inputs}, "weight"),
                      .fan_in = inputs,
                      .fan_out = units}}};
  if (bias)
    plan.parameters.push_back(
        {.name = "bias", .shape = {units}, .role = Role::kBias});
  plan.flops = numbers_in(plan.output.shape) *
               (2 * static_cast<double>(inputs) + (bias ? 1 : 0));
  plan.flops += activation_flops(settings, plan.output.shape);
  plan.manners = activated(settings);
  return plan;
}

Linear::Linear(const LayerSite& site)
    : device_(site.device),
      inputs_(site.parameters[0].shape[1]),
      units_(site.parameters[0].shape[0]),
      product_(device_->dense()),
      own_weight_(site.parameters[0]),
      own_bias_(site.parameter(1)),
      weight_gradient_(site.frozen ? View{} : site.gradient(0)),
      bias_gradient_(site.frozen ? View{} : site.gradient(1)),
      weight_(own_weight_),
      bias_(own_bias_) {}

View Linear::flat(View v, std::int64_t columns) {
  return v.reshaped({v.elements() / columns, columns});
}

void Linear::forward(View y, View x) {
  product_->forward(flat(y, units_), flat(x, inputs_), weight_, bias_);
}

bool Linear::freeze(const Scaling& scaling, const tensor::ActivationSpec& f) {
  weight_ = own_weight_;
  bias_ = own_bias_;
  folded_ = fold(*device_, weight_, bias_, scaling);
  if (!product_->freeze(weight_, bias_, f)) return false;
  weight_ = bias_ = {};
  return true;
}

void Linear::backward(View dx, View dy, View x) {
  dy = flat(dy, units_);
  if (!weight_gradient_.empty())
    device_->matmul(weight_gradient_, dy, true, flat(x, inputs_), false, 0);
  if (!bias_gradient_.empty()) device_->sum_rows(bias_gradient_, dy);
  if (!dx.empty())
    device_->matmul(flat(dx, inputs_), dy, false, weight_, false, 0);
}

void Linear::freeze_like(const Linear& twin) {
  folded_ = {};
  weight_ = bias_ = {};
  product_->freeze_like(*twin.product_);
}

}  // namespace dl::nn::layers
