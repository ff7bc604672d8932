// Pooling of series by a window: of images of height 1.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_POOL1D_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_POOL1D_H_

#include "libcore/nn/layers/parts/series_mask.h"
#include "libcore/nn/layers/parts/window.h"

namespace dl::nn::layers {

using device::Pooling;
using tensor::View;

// Less than all that counts, and finite: what is left of it is multiplied by 0.
constexpr double kLeast = -1e30;

template <Pooling kind>
class Pool1d final : public Layer {
 public:
  Pool1d(const LayerSite& site, Memory& memory)
      : device_(site.device),
        mask_(site, memory),
        kernel_(device_->pool2d(
            pool2d_spec(window_of(*site.settings), site.input(), kind),
            site.max_batch)) {
    if (site.inputs[0].steps)
      factor_ = memory.allocate({site.max_batch, site.output.shape[0]});
  }

  void forward(const Flow& flow, const Step& step) override {
    const View& mask = flow.masks[0];
    const View x =
        mask_.apply(flow.x[0], mask, kind == Pooling::kMax ? kLeast : 0);
    kernel_->forward(series_as_images(flow.y), series_as_images(x),
                     step.training);
    if (!mask.empty()) device_->mask_steps(flow.y, factor(mask));
  }

  void backward(const Flow& flow, const Step&) override {
    const View& mask = flow.masks[0];
    if (!mask.empty()) device_->mask_steps(flow.dy, factor(mask));
    kernel_->backward(series_as_images(flow.dx[0]), series_as_images(flow.dy));
    if (!mask.empty()) device_->mask_steps(flow.dx[0], mask);
  }

  View mask(const Flow& flow) override { return mask_.any(flow.masks[0]); }

 private:
  // Factor that turns the pooled numbers into those of the real steps: 0 for a
  // window without any, and for a mean 1 / their share.
  View factor(const View& mask) {
    const View any = mask_.any(mask);
    if (kind == Pooling::kMax) return any;
    // share + (1 - any), which is 1 where the share is 0
    const View divisor = factor_.at(0, any.shape);
    device_->fill(divisor, 1);
    device_->add(divisor, -1, any);
    device_->add(divisor, 1, mask_.share(mask));
    device_->divide(divisor, any, divisor);
    return divisor;
  }

  device::Device* device_;
  SeriesMask mask_;
  std::unique_ptr<device::Pool2d> kernel_;
  View factor_;
};

inline LayerShape infer_pool1d(const LayerSettings& settings,
                               std::span<const ValueSpec> inputs) {
  const ValueSpec& input = inputs[0];
  const Window window = window_of(settings);
  const tensor::Shape shape = slide(window, input.shape, input.shape.back());
  const ValueSpec output{shape, input.steps, input.copies};
  return {.output = output,
          .flops = static_cast<double>(window.kernel[0]) * numbers_in(shape),
          .buffers = {.keeps_inputs = false,
                      .keeps_output = false,
                      .spoils_gradient = input.steps},
          .mask = series_mask_rule(input, output)};
}

template <Pooling kind>
LayerType pooling(std::string_view name, std::string_view words,
                  const std::vector<std::string_view>& other_names) {
  return {.name = name,
          .words = words,
          .other_names = other_names,
          .keys = pooling_keys(1),
          .reads_sequences = true,
          .complete = stride_as_kernel,
          .infer = infer_pool1d,
          .make = make<Pool1d<kind>>};
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_POOL1D_H_
