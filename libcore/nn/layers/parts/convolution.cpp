// Common parts of convolutions: keys, shapes, bias, activation.

#include "libcore/nn/layers/parts/convolution.h"

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/window.h"

namespace dl::nn::layers {

Convolution::Convolution(const LayerSite& site, Memory& memory,
                         std::unique_ptr<device::Conv2d> kernel)
    : site_(site),
      f_(site.settings->activation("activation")),
      weight_(site.parameters[0]),
      bias_(site.parameter(1)),
      activation_(site, f_, memory),
      kernel_(std::move(kernel)) {}

void Convolution::freeze() {
  weight_ = site_.parameters[0];
  bias_ = site_.parameter(1);
  folded_ = fold(*site_.device, weight_, bias_, scaling_);
  scaling_ = {};
  frozen_ = kernel_->freeze(weight_, bias_, f_);
  if (frozen_) folded_ = {};  // the kernel has its copy
}

void Convolution::freeze_like(Layer& twin) {
  auto& other = static_cast<Convolution&>(twin);
  if (!other.frozen_) return freeze();
  scaling_ = {};
  kernel_->freeze_like(*other.kernel_);
  frozen_ = true;
}

void Convolution::forward(const Flow& flow, const Step& step) {
  if (frozen_) return kernel_->forward(flow.y, flow.x[0], {}, {});
  if (activation_.goes_by_output() &&
      kernel_->forward_activated(flow.y, flow.x[0], weight_, bias_, f_))
    return;
  kernel_->forward(flow.y, flow.x[0], weight_, bias_);
  activation_.forward(flow.y, step.training);
}

void Convolution::backward(const Flow& flow, const Step&) {
  const tensor::View of_bias =
      site_.frozen ? tensor::View{} : site_.gradient(1);
  const bool summed = activation_.backward(flow.dy, flow.y, of_bias);
  if (!site_.frozen)
    kernel_->backward_weights(site_.gradient(0),
                              summed ? tensor::View{} : of_bias, flow.x[0],
                              flow.dy);
  if (!flow.dx[0].empty())
    kernel_->backward_data(flow.dx[0], flow.dy, site_.parameters[0]);
}

LayerShape infer_convolution(const LayerSettings& settings,
                             const ValueSpec& input, std::int64_t filters,
                             std::int64_t groups) {
  const Window w = window_of(settings);
  const tensor::Shape output = slide(w, input.shape, filters);
  const std::int64_t channels = input.shape.back() / groups;
  std::int64_t strides = 1;
  for (const std::int64_t stride : w.stride) strides *= stride;
  const bool bias = settings.flag("bias");
  std::vector<std::int64_t> extents{filters};
  extents.insert(extents.end(), w.kernel.begin(), w.kernel.end());
  extents.push_back(channels);
  const tensor::Shape weight = checked_shape(extents, "weight");
  const std::int64_t window = weight.elements() / filters / channels;
  LayerShape plan{
      .output = {output, input.steps && w.kernel.size() == 1, input.copies},
      .parameters = {{.name = "weight",
                      .shape = weight,
                      .fan_in = channels * window,
                      .fan_out = filters / groups * window / strides}}};
  if (bias)
    plan.parameters.push_back(
        {.name = "bias", .shape = {filters}, .role = Role::kBias});
  plan.flops =
      numbers_in(output) *
          (2 * static_cast<double>(channels * window) + (bias ? 1 : 0)) +
      activation_flops(settings, output);
  plan.buffers = activated(settings);
  return plan;
}

namespace {

std::int64_t depthwise_filters(const LayerSettings& settings,
                               const tensor::Shape& input) {
  return checked_shape({input.back(), settings.integer("depth_multiplier")},
                       "its output")
      .elements();
}

}  // namespace

LayerShape infer_depthwise(const LayerSettings& settings,
                           const ValueSpec& input) {
  return infer_convolution(settings, input,
                           depthwise_filters(settings, input.shape),
                           input.shape.back());
}

device::Conv2dSpec depthwise_spec(const LayerSettings& settings,
                                  const tensor::Shape& input) {
  device::Conv2dSpec spec = conv2d_spec(window_of(settings), input,
                                        depthwise_filters(settings, input));
  spec.groups = input.back();
  return spec;
}

Key depth_multiplier_key() {
  return key::integer("depth_multiplier", "1",
                      "Filters for each channel of the input.", kSmall);
}

}  // namespace dl::nn::layers
