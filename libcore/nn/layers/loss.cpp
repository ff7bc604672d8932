// An activation and a loss of what a layer before it gives.

#include "libcore/nn/layers/parts/loss.h"

#include <algorithm>
#include <iterator>

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/fused_activation.h"
#include "libcore/nn/layers/parts/gaussian_output.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class LossLayer final : public OutputLayer {
 public:
  LossLayer(const LayerSite& site, Memory& memory)
      : device_(site.device),
        activation_(site, site.settings->activation("activation"), memory),
        loss_(site, memory) {}

  void forward(const Flow& flow, const Step& step) override {
    if (flow.y.data != flow.x[0].data) device_->copy(flow.y, flow.x[0]);
    if (!(loss_.takes_logits() && step.training))
      activation_.forward(flow.y, step.training);
  }

  void loss(View grad, View y, View target, View mask, double scale) override {
    loss_.compute(grad, y, target, mask, scale);
  }

  void backward(const Flow& flow, const Step&) override {
    if (!loss_.takes_logits()) activation_.backward(flow.dy, flow.y);
    const View dx = flow.dx[0];
    if (dx.data != flow.dy.data) device_->copy(dx, flow.dy);
  }

 private:
  device::Device* device_;
  FusedActivation activation_;
  OutputLoss loss_;
};

LayerShape infer_loss_layer(const LayerSettings& settings,
                            std::span<const ValueSpec> inputs) {
  const ValueSpec& input = inputs[0];
  const std::int64_t units = settings.integer("units");
  const bool gaussian = is_gaussian(settings);
  if (input.shape.back() != (gaussian ? 2 * units : units))
    throw Error{Code::kConfig, "its input is " + input.shape.to_string() +
                                   ", the last dimension of which is not " +
                                   (gaussian ? "twice " : "") +
                                   std::to_string(units) + ", its units"};
  if (gaussian)
    return {.output = halved(input),
            .flops = activation_flops(settings, input.shape),
            .buffers = {.keeps_inputs = false, .keeps_output = false}};
  BufferPolicy buffers = activated(settings);
  buffers.in_place = buffers.gradient_in_place = true;
  buffers.keeps_inputs = false;
  return {.output = input,
          .flops = activation_flops(settings, input.shape),
          .buffers = buffers,
          .step_by_step = true};
}

std::vector<Key> loss_layer_keys() {
  std::vector<Key> all{key::units(), key::activation("(by the loss)")};
  std::ranges::copy(loss_keys(), std::back_inserter(all));
  return all;
}

}  // namespace

const LayerType& loss() {
  static const LayerType type{
      .name = "loss",
      .words =
          "The *activation* and *loss* of an *output*, without its weights.\n"
          "The last dimension of its input is *units*, or twice that with the "
          "loss *gaussian*; each\n"
          "step and pixel has a loss.",
      .other_names = {"losslayer", "rnnloss", "cnnloss"},
      .keys = loss_layer_keys(),
      .complete = complete_output,
      .check = check_loss,
      .output = output_spec,
      .infer = infer_loss_layer,
      .make = make_output<LossLayer>};
  return type;
}

}  // namespace dl::nn::layers
