// Convolution, bias and activation; with a max pooling layer behind it, that as
// well.

#include "libcore/nn/layers/conv2d.h"

#include <algorithm>

#include "libcore/nn/keys.h"
#include "libcore/nn/layer_type.h"
#include "libcore/nn/layers/fold.h"
#include "libcore/nn/layers/fused_activation.h"
#include "libcore/nn/layers/window.h"

namespace dl::nn::layers {
namespace {

using tensor::Activation;
using tensor::View;

class Conv2d final : public Layer {
 public:
  Conv2d(const LayerSite& site, Memory& memory, bool pools = false)
      : site_(site),
        f_(site.settings->activation("activation")),
        weight_(site.parameters[0]),
        bias_(site.parameter(1)),
        activation_(site, f_, memory),
        kernel_(make_kernel(site, pools)) {}

  void absorb(const Scaling& scaling) override { scaling_ = scaling; }

  void freeze() override {
    weight_ = site_.parameters[0];
    bias_ = site_.parameter(1);
    folded_ = {};
    if (!scaling_.empty()) {
      folded_ = fold(*site_.device, weight_, bias_, scaling_);
      weight_ = folded_.weight->view();
      bias_ = folded_.bias->view();
    }
    scaling_ = {};
    frozen_ = kernel_->freeze(weight_, bias_, f_);
    if (frozen_) folded_ = {};  // the kernel has its copy
  }

  void freeze_like(Layer& twin) override {
    auto& other = static_cast<Conv2d&>(twin);
    if (!other.frozen_) return freeze();
    scaling_ = {};
    kernel_->freeze_like(*other.kernel_);
    frozen_ = true;
  }

  void forward(const Flow& flow, const Step& step) override {
    if (frozen_) return kernel_->forward(flow.y, flow.x[0], {}, {});
    kernel_->forward(flow.y, flow.x[0], weight_, bias_);
    activation_.forward(flow.y, step.training);
  }

  void backward(const Flow& flow, const Step&) override {
    activation_.backward(flow.dy, flow.y);
    kernel_->backward_weights(site_.gradient(0), site_.gradient(1), flow.x[0],
                              flow.dy);
    if (!flow.dx[0].empty())
      kernel_->backward_data(flow.dx[0], flow.dy, site_.parameters[0]);
  }

 private:
  static std::unique_ptr<tensor::Conv2d> make_kernel(const LayerSite& site,
                                                     bool pools) {
    const tensor::Conv2dSpec spec =
        conv2d_spec(window_of(*site.settings), site.input(),
                    site.settings->integer("filters"));
    return pools ? site.device->conv2d_max_pool(spec, site.max_batch)
                 : site.device->conv2d(spec, site.max_batch);
  }

  LayerSite site_;
  tensor::ActivationSpec f_;
  View weight_, bias_;  // the site's or folded_
  Scaling scaling_;     // of the batch normalisation behind
  Folded folded_;
  bool frozen_ = false;  // the kernel has weights, bias and activation
  FusedActivation activation_;
  std::unique_ptr<tensor::Conv2d> kernel_;
};

// max f(x) = f(max x) for these.
bool never_decreases(const tensor::ActivationSpec& f) {
  switch (f.kind) {
    case Activation::kIdentity:
    case Activation::kRelu:
    case Activation::kSigmoid:
    case Activation::kTanh:
    case Activation::kSoftplus:
    case Activation::kRelu6:
    case Activation::kThresholdedRelu:
    case Activation::kSelu:
    case Activation::kSoftsign:
    case Activation::kCube:
    case Activation::kHardTanh:
    case Activation::kRationalTanh:
    case Activation::kRectifiedTanh:
    case Activation::kExp:
      return true;
    case Activation::kLeakyRelu:
    case Activation::kElu:
    case Activation::kCappedRelu:
    case Activation::kHardSigmoid:
      return f.alpha >= 0;
    case Activation::kGelu:
    case Activation::kSwish:
    case Activation::kMish:
    case Activation::kSoftmax:
    case Activation::kLogSoftmax:
      return false;
  }
  return false;
}

Blueprint plan(const Settings& settings, std::span<const Form> inputs) {
  const Window w = window_of(settings);
  const std::int64_t filters = settings.integer("filters");
  const tensor::Shape output = slide(w, inputs[0].shape, filters);
  const std::int64_t channels = inputs[0].shape[2];
  const std::int64_t window = w.kernel[0] * w.kernel[1];
  const bool bias = settings.flag("bias");
  Blueprint plan{
      .output = {output, false, inputs[0].copies},
      .parameters = {
          {.name = "weight",
           .shape = checked_shape({filters, w.kernel[0], w.kernel[1], channels},
                                  "weight"),
           .fan_in = channels * window,
           .fan_out = filters * window / (w.stride[0] * w.stride[1])}}};
  if (bias)
    plan.parameters.push_back(
        {.name = "bias", .shape = {filters}, .role = Role::kBias});
  plan.flops =
      numbers_in(output) *
          (2 * static_cast<double>(channels * window) + (bias ? 1 : 0)) +
      activation_flops(settings, output);
  plan.manners = activated(settings);
  return plan;
}

}  // namespace

const LayerType& conv2d() {
  static const LayerType type{
      .name = "conv2d",
      .words =
          "A window slides over an image, y = f(conv(x, W) + b).\n"
          "W is [filters, kernel height, kernel width, channels].",
      .other_names = {"convolution", "convolution2d", "conv"},
      .keys = {key::integer("filters", "required", "Channels of the output."),
               key::pair("kernel", "required",
                         "Size of the window, [height, width]."),
               key::pair("stride", "[1, 1]", "Steps of the window."),
               key::pair("dilation", "[1, 1]",
                         "Distance of the window's points; 1 leaves no gaps."),
               padding_key(), key::bias(), key::activation(R"("identity")")},
      .trains = Trains::kWeights,
      .absorbs = is_linear,
      .activates = true,
      .plan = plan,
      .make = make<Conv2d>};
  return type;
}

std::unique_ptr<Layer> make_conv2d_max_pool2d(const LayerSite& site,
                                              Memory& memory) {
  return std::make_unique<Conv2d>(site, memory, true);
}

bool pools_at_once(const LayerConfig& layer, const LayerConfig& next,
                   const tensor::Shape& between) {
  if (layer.type->name != "conv2d" || next.type->name != "max_pool2d" ||
      !never_decreases(layer.settings.activation("activation")))
    return false;
  const tensor::Pool2dSpec pool =
      pool2d_spec(window_of(next.settings), between, tensor::Pooling::kMax);
  const auto all = [](const std::int64_t(&of)[2], std::int64_t want) {
    return std::ranges::count(of, want) == 2;
  };
  return all(pool.kernel, 2) && all(pool.stride, 2) && all(pool.pad_begin, 0) &&
         all(pool.pad_end, 0);
}

}  // namespace dl::nn::layers
