// The largest, or smallest, of inputs.  The first that has it gets the
// gradient.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_MAX_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_MAX_H_

#include "libcore/nn/layers/parts/elementwise.h"

namespace dl::nn::layers {

using tensor::Extreme;

template <Extreme kind>
class Choice final : public Layer {
 public:
  Choice(const LayerSite& site, Memory& memory)
      : device_(site.device),
        which_(memory.allocate(site.output.shape.with_first(site.max_batch),
                               tensor::DType::kI32)) {}

  void forward(const Flow& flow, const Step&) override {
    device_->extreme(flow.y, which_.at(0, flow.y.shape), flow.x, kind);
  }

  void backward(const Flow& flow, const Step&) override {
    for (std::size_t i = flow.dx.size(); i-- > 0;)
      if (!flow.dx[i].empty())
        device_->take_where(flow.dx[i], flow.dy, which_.at(0, flow.dy.shape),
                            static_cast<std::int32_t>(i));
  }

 private:
  device::Device* device_;
  tensor::View which_;
};

inline LayerShape infer_max(const LayerSettings&,
                            std::span<const ValueSpec> inputs) {
  const ValueSpec form = same_form(inputs);
  return {
      .output = form,
      .flops = numbers_in(form.shape) * static_cast<double>(inputs.size() - 1),
      .buffers = {.gradient_in_place = true,
                  .keeps_inputs = false,
                  .keeps_output = false},
      .step_by_step = true};
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_MAX_H_
