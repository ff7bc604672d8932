// A convolution channel by channel, and one of 1x1 that mixes them.

#include "libcore/nn/layers/parts/convolution.h"
#include "libcore/nn/layers/parts/window.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class SeparableConv2d final : public Layer {
 public:
  SeparableConv2d(const LayerSite& site, Memory& memory)
      : site_(site),
        spec_(depthwise_spec(*site.settings, site.input())),
        depthwise_(site.device->conv2d(spec_, site.max_batch)),
        between_(memory.allocate(between(site.max_batch))) {
    if (site.training) gradient_ = memory.allocate(between_.shape);
    const device::Conv2dSpec points{.height = spec_.out_height(),
                                    .width = spec_.out_width(),
                                    .channels = spec_.filters,
                                    .filters = site.output.shape[2]};
    LayerSite second = site;
    const auto from_second = [](std::vector<View>& views) {
      if (!views.empty()) views.erase(views.begin());
    };
    from_second(second.parameters);
    from_second(second.gradients);
    pointwise_ = std::make_unique<Convolution>(
        second, memory, site.device->conv2d(points, site.max_batch));
    flow_.x.resize(1);
    flow_.dx.resize(1);
  }

  void absorb(const Scaling& scaling) override { pointwise_->absorb(scaling); }
  void freeze() override {
    frozen_ = depthwise_->freeze(site_.parameters[0], {}, {});
    pointwise_->freeze();
  }
  void freeze_like(Layer& twin) override {
    auto& other = static_cast<SeparableConv2d&>(twin);
    if (!other.frozen_) return freeze();
    depthwise_->freeze_like(*other.depthwise_);
    frozen_ = true;
    pointwise_->freeze_like(*other.pointwise_);
  }

  void forward(const Flow& flow, const Step& step) override {
    const std::int64_t n = flow.y.shape[0];
    flow_.x[0] = between_.at(0, between(n));
    depthwise_->forward(flow_.x[0], flow.x[0],
                        frozen_ ? View{} : site_.parameters[0], {});
    flow_.y = flow.y;
    pointwise_->forward(flow_, step);
  }

  void backward(const Flow& flow, const Step& step) override {
    const std::int64_t n = flow.dy.shape[0];
    flow_.x[0] = between_.at(0, between(n));
    flow_.dx[0] = gradient_.at(0, between(n));
    flow_.y = flow.y;
    flow_.dy = flow.dy;
    pointwise_->backward(flow_, step);
    depthwise_->backward_weights(site_.gradient(0), {}, flow.x[0], flow_.dx[0]);
    if (!flow.dx[0].empty())
      depthwise_->backward_data(flow.dx[0], flow_.dx[0], site_.parameters[0]);
  }

 private:
  tensor::Shape between(std::int64_t n) const {
    return {n, spec_.out_height(), spec_.out_width(), spec_.filters};
  }

  LayerSite site_;
  device::Conv2dSpec spec_;
  std::unique_ptr<device::Conv2d> depthwise_;
  View between_, gradient_;
  std::unique_ptr<Convolution> pointwise_;
  Flow flow_;  // of the second
  bool frozen_ = false;
};

LayerShape infer_separable_conv2d(const LayerSettings& settings,
                                  std::span<const ValueSpec> inputs) {
  LayerSettings first = settings;
  first.set("bias", false);
  first.set("activation", "identity");
  const LayerShape depthwise = infer_depthwise(first, inputs[0]);
  LayerSettings second = settings;
  for (const char* key : {"kernel", "stride", "dilation"})
    second.set(key, {1, 1});
  LayerShape plan =
      infer_convolution(second, depthwise.output, settings.integer("filters"));
  plan.parameters[0].name = "point_weight";
  plan.parameters.insert(plan.parameters.begin(), depthwise.parameters[0]);
  plan.parameters[0].name = "depth_weight";
  plan.flops += depthwise.flops;
  check_size(depthwise.output.shape, "what lies between");
  return plan;
}

}  // namespace

const LayerType& separable_conv2d() {
  static const LayerType type = [] {
    std::vector<Key> keys = convolution_keys(2);
    keys.insert(keys.begin() + 1, depth_multiplier_key());
    return LayerType{.name = "separable_conv2d",
                     .words =
                         "A depthwise convolution without bias, followed by a "
                         "1x1 convolution:\n"
                         "y = f(conv1x1(depthwise(x, D), P) + b).\n"
                         "D is [channels \\* depth_multiplier, kernel height, "
                         "kernel width, 1],\n"
                         "P is [filters, 1, 1, channels \\* depth_multiplier].",
                     .other_names = {"separableconvolution2d", "separableconv"},
                     .keys = keys,
                     .trains = Trains::kWeights,
                     .absorbs = is_linear,
                     .activates = true,
                     .infer = infer_separable_conv2d,
                     .make = make<SeparableConv2d>};
  }();
  return type;
}

}  // namespace dl::nn::layers
