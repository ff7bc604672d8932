// One input less the other.

#include "libcore/nn/layers/parts/elementwise.h"

namespace dl::nn::layers {
namespace {

class Subtract final : public Layer {
 public:
  Subtract(const LayerSite& site, Memory&) : device_(site.device) {}

  void forward(const Flow& flow, const Step&) override {
    if (flow.y.data != flow.x[0].data) device_->copy(flow.y, flow.x[0]);
    device_->add(flow.y, -1, flow.x[1]);
  }

  void backward(const Flow& flow, const Step&) override {
    if (!flow.dx[1].empty()) {
      device_->copy(flow.dx[1], flow.dy);
      device_->scale(flow.dx[1], -1);
    }
    if (!flow.dx[0].empty() && flow.dx[0].data != flow.dy.data)
      device_->copy(flow.dx[0], flow.dy);
  }

 private:
  device::Device* device_;
};

LayerShape infer_subtract(const LayerSettings&,
                          std::span<const ValueSpec> inputs) {
  const ValueSpec form = same_form(inputs);
  return {.output = form,
          .flops = numbers_in(form.shape),
          .buffers = {.in_place = true,
                      .gradient_in_place = true,
                      .keeps_inputs = false,
                      .keeps_output = false},
          .step_by_step = true};
}

}  // namespace

const LayerType& subtract() {
  static const LayerType type{
      .name = "subtract",
      .words = "The first of two inputs of one shape, less the second.",
      .other_names = {"elementwisesubtract"},
      .inputs = {2, 2},
      .infer = infer_subtract,
      .make = make<Subtract>};
  return type;
}

}  // namespace dl::nn::layers
