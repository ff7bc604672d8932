// Convolution of series: of images of height 1.

#include "libcore/nn/layers/parts/convolution.h"
#include "libcore/nn/layers/parts/series_mask.h"
#include "libcore/nn/layers/parts/window.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

// The same layer over images.
LayerSite as_images(const LayerSite& site) {
  LayerSite images = site;
  for (auto* views : {&images.parameters, &images.gradients})
    if (!views->empty()) views->front() = series_as_images(views->front());
  return images;
}

class Conv1d final : public Layer {
 public:
  Conv1d(const LayerSite& site, Memory& memory)
      : site_(site),
        mask_(site, memory),
        images_(
            as_images(site), memory,
            site.device->conv2d(conv2d_spec(window_of(*site.settings),
                                            site.input(), site.output.shape[1]),
                                site.max_batch)) {
    flow_.x.resize(1);
    flow_.dx.resize(1);
  }

  void absorb(const Scaling& scaling) override { images_.absorb(scaling); }
  void freeze() override { images_.freeze(); }
  void freeze_like(Layer& twin) override {
    images_.freeze_like(static_cast<Conv1d&>(twin).images_);
  }

  void forward(const Flow& flow, const Step& step) override {
    flow_.x[0] = series_as_images(mask_.apply(flow.x[0], flow.masks[0]));
    flow_.y = series_as_images(flow.y);
    images_.forward(flow_, step);
  }

  void backward(const Flow& flow, const Step& step) override {
    flow_.x[0] = series_as_images(mask_.kept(flow.x[0], flow.masks[0]));
    flow_.y = series_as_images(flow.y);
    flow_.dx[0] = series_as_images(flow.dx[0]);
    flow_.dy = series_as_images(flow.dy);
    images_.backward(flow_, step);
    if (!flow.dx[0].empty() && !flow.masks[0].empty())
      site_.device->mask_steps(flow.dx[0], flow.masks[0]);
  }

  View mask(const Flow& flow) override { return mask_.any(flow.masks[0]); }

 private:
  LayerSite site_;
  SeriesMask mask_;
  Convolution images_;
  Flow flow_;  // of images
};

LayerShape infer_conv1d(const LayerSettings& settings,
                        std::span<const ValueSpec> inputs) {
  LayerShape plan =
      infer_convolution(settings, inputs[0], settings.integer("filters"));
  plan.mask = series_mask_rule(inputs[0], plan.output);
  const Window window = window_of(settings);
  plan.step_by_step = window.kernel[0] == 1 && window.stride[0] == 1;
  return plan;
}

}  // namespace

const LayerType& conv1d() {
  static const LayerType type{
      .name = "conv1d",
      .words =
          "A 1D convolution over a sequence, y = f(conv(x, W) + b).\n"
          "W is [filters, kernel, features].\n"
          "With *padding* causal, a step of the output depends only on steps "
          "up to it.\n"
          "Masked steps are read as zeros. If the number of steps stays the "
          "same, the output has\n"
          "the same mask; otherwise a step of the output counts if its window, "
          "including the gaps\n"
          "of a dilation, has a step that counts.",
      .other_names = {"convolution1d", "convolution1dlayer"},
      .keys = convolution_keys(1),
      .trains = Trains::kWeights,
      .reads_sequences = true,
      .absorbs = is_linear,
      .activates = true,
      .infer = infer_conv1d,
      .make = make<Conv1d>};
  return type;
}

}  // namespace dl::nn::layers
