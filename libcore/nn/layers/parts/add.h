// The sum and the mean of inputs: a residual connection, a skip.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_ADD_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_ADD_H_

#include "libcore/nn/layers/parts/elementwise.h"

namespace dl::nn::layers {

using tensor::View;

// factor(inputs) times their sum.
template <bool mean>
class Sum final : public Layer {
 public:
  Sum(const LayerSite& site, Memory&) : device_(site.device) {}

  void forward(const Flow& flow, const Step&) override {
    if (flow.y.data != flow.x[0].data) device_->copy(flow.y, flow.x[0]);
    for (std::size_t i = 1; i < flow.x.size(); ++i)
      device_->add(flow.y, 1, flow.x[i]);
    if (mean) device_->scale(flow.y, 1.0 / static_cast<double>(flow.x.size()));
  }

  // Backward pass of a mean; the gradient of a sum is passed on. the gradient
  // of a sum is passed on.
  void backward(const Flow& flow, const Step&) override {
    for (std::size_t i = flow.dx.size(); i-- > 0;) {
      const View dx = flow.dx[i];
      if (dx.empty()) continue;
      if (dx.data != flow.dy.data) device_->copy(dx, flow.dy);
      device_->scale(dx, 1.0 / static_cast<double>(flow.x.size()));
    }
  }

 private:
  device::Device* device_;
};

template <bool mean>
LayerShape infer_add(const LayerSettings&, std::span<const ValueSpec> inputs) {
  const ValueSpec form = same_form(inputs);
  return {.output = form,
          .flops = numbers_in(form.shape) * static_cast<double>(inputs.size()),
          .buffers = {.in_place = true,
                      .gradient_in_place = mean,
                      .keeps_inputs = false,
                      .keeps_output = false,
                      .passes_gradient = !mean},
          .step_by_step = true};
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_ADD_H_
