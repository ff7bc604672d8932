// The product of inputs: gates, attention by hand.

#include "libcore/nn/layers/parts/elementwise.h"

namespace dl::nn::layers {
namespace {

class Multiply final : public Layer {
 public:
  Multiply(const LayerSite& site, Memory&) : device_(site.device) {}

  void forward(const Flow& flow, const Step&) override {
    device_->multiply(flow.y, flow.x[0], flow.x[1]);
    for (std::size_t i = 2; i < flow.x.size(); ++i)
      device_->multiply(flow.y, flow.y, flow.x[i]);
  }

  // dy times the other inputs; the first last, which may lie where dy does.
  void backward(const Flow& flow, const Step&) override {
    for (std::size_t i = flow.x.size(); i-- > 0;) {
      if (flow.dx[i].empty()) continue;
      tensor::View product = flow.dy;
      for (std::size_t k = 0; k < flow.x.size(); ++k) {
        if (k == i) continue;
        device_->multiply(flow.dx[i], product, flow.x[k]);
        product = flow.dx[i];
      }
    }
  }

 private:
  device::Device* device_;
};

LayerShape infer_multiply(const LayerSettings&,
                          std::span<const ValueSpec> inputs) {
  const ValueSpec form = same_form(inputs);
  return {
      .output = form,
      .flops = numbers_in(form.shape) * static_cast<double>(inputs.size() - 1),
      .buffers = {.in_place = true,
                  .gradient_in_place = true,
                  .keeps_output = false},
      .step_by_step = true};
}

}  // namespace

const LayerType& multiply() {
  static const LayerType type{
      .name = "multiply",
      .words =
          "The product of two or more inputs of one shape, number by number.",
      .other_names = {"elementwiseproduct", "product"},
      .inputs = {2, kAnyNumber},
      .infer = infer_multiply,
      .make = make<Multiply>};
  return type;
}

}  // namespace dl::nn::layers
