// A vector at each of several steps.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_REPEAT_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_REPEAT_H_

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

using device::Strided;
using tensor::View;

class Repeat final : public Layer {
 public:
  Repeat(const LayerSite& site, Memory&)
      : device_(site.device),
        steps_(site.output.shape[0]),
        width_(site.output.shape[1]) {}

  void forward(const Flow& flow, const Step&) override {
    device_->copy_strided(over(flow.y), flow.y, flow.x[0], false);
  }

  // Inputs that only give the number of steps have no gradient.
  void backward(const Flow& flow, const Step&) override {
    for (const View& dx : flow.dx)
      if (!dx.empty()) device_->fill(dx, 0);
    if (!flow.dx[0].empty())
      device_->copy_strided(over(flow.dy).exchanged(), flow.dx[0], flow.dy,
                            true);
  }

 private:
  Strided over(View y) const {
    Strided s;
    return s.over(y.shape[0], steps_ * width_, width_)
        .over(steps_, width_, 0)
        .over(width_, 1, 1);
  }

  device::Device* device_;
  std::int64_t steps_, width_;
};

inline LayerShape repeated(const ValueSpec& input, std::int64_t steps) {
  if (input.shape.rank() != 1)
    throw Error{Code::kConfig,
                "wants a vector, its input is " + input.shape.to_string()};
  return {.output = {checked_shape({steps, input.shape[0]}, "its output"), true,
                     input.copies},
          .buffers = {.keeps_inputs = false, .keeps_output = false}};
}

inline LayerShape infer_repeat(const LayerSettings& settings,
                               std::span<const ValueSpec> inputs) {
  return repeated(inputs[0], settings.integer("n"));
}

inline LayerShape infer_like(const LayerSettings&,
                             std::span<const ValueSpec> inputs) {
  if (inputs[1].shape.rank() != 2)
    throw Error{Code::kConfig,
                "wants a sequence [steps, features] as its second input, got " +
                    inputs[1].shape.to_string()};
  if (inputs[0].copies != inputs[1].copies)
    throw Error{Code::kConfig, "one of its inputs is stacked, the other not"};
  LayerShape plan = repeated(inputs[0], inputs[1].shape[0]);
  plan.step_by_step = inputs[1].steps;
  return plan;
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_REPEAT_H_
