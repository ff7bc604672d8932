// Pooling of images and of volumes by a window.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_POOL2D_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_POOL2D_H_

#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/window.h"

namespace dl::nn::layers {

using device::Pooling;

// Settings of the kinds of pooling besides the window.
template <typename Spec>
Spec finished(Spec spec, const LayerSettings& settings) {
  if (settings.has("p")) spec.p = settings.number("p");
  if (settings.has("count_padding"))
    spec.count_padding = settings.flag("count_padding");
  return spec;
}

inline std::unique_ptr<device::Pool2d> kernel_of(const LayerSite& site,
                                                 Pooling kind) {
  const Window window = window_of(*site.settings);
  if (window.kernel.size() == 3)
    return site.device->pool3d(
        finished(pool3d_spec(window, site.input(), kind), *site.settings),
        site.max_batch);
  return site.device->pool2d(
      finished(pool2d_spec(window, site.input(), kind), *site.settings),
      site.max_batch);
}

template <Pooling kind>
class Pool final : public Layer {
 public:
  Pool(const LayerSite& site, Memory&) : kernel_(kernel_of(site, kind)) {}

  void forward(const Flow& flow, const Step& step) override {
    kernel_->forward(flow.y, flow.x[0], step.training);
  }

  void backward(const Flow& flow, const Step&) override {
    kernel_->backward(flow.dx[0], flow.dy);
  }

 private:
  std::unique_ptr<device::Pool2d> kernel_;
};

inline LayerShape infer_pool2d(const LayerSettings& settings,
                               std::span<const ValueSpec> inputs) {
  const Window window = window_of(settings);
  const tensor::Shape& input = inputs[0].shape;
  const tensor::Shape output = slide(window, input, input.back());
  double points = 1;
  for (const std::int64_t extent : window.kernel)
    points *= static_cast<double>(extent);
  return {.output = {output, false, inputs[0].copies},
          .flops = points * numbers_in(output),
          .buffers = {.keeps_inputs = false, .keeps_output = false}};
}

inline Key count_padding_key() {
  // Resolved, files of 0.1 stay as they are.
  return key::flag(
      "count_padding", "(false)",
      "Counts padding, as zeros; else means are over the input alone.");
}

template <Pooling kind>
LayerType pooling(int axes, std::string_view name, std::string_view words,
                  const std::vector<std::string_view>& other_names) {
  std::vector<Key> keys = pooling_keys(axes);
  if (kind == Pooling::kAverage) keys.push_back(count_padding_key());
  if (kind == Pooling::kPNorm)
    keys.push_back(key::number("p", "2", "The exponent.", "[1, inf)"));
  return {.name = name,
          .words = words,
          .other_names = other_names,
          .keys = keys,
          .complete = stride_as_kernel,
          .infer = infer_pool2d,
          .make = make<Pool<kind>>};
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_POOL2D_H_
