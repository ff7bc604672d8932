// Transposed convolution: a convolution whose input is this layer's output, its
// forward and its gradient exchanged.

#include "libcore/nn/layers/parts/convolution.h"
#include "libcore/nn/layers/parts/window.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

// [height, width, filters]
tensor::Shape output_of(const LayerSettings& settings,
                        const tensor::Shape& input) {
  const Window w = window_of(settings);
  if (input.rank() != 3)
    throw Error{Code::kConfig,
                "wants an image [height, width, channels], its input is " +
                    input.to_string()};
  std::int64_t extents[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t in = input[static_cast<int>(i)];
    check_size({in}, "its output");
    extents[i] =
        w.padding == Padding::kSame
            ? in * w.stride[i]
            : (in - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1;
  }
  return checked_shape({extents[0], extents[1], settings.integer("filters")},
                       "its output");
}

class Conv2dTranspose final : public Layer {
 public:
  Conv2dTranspose(const LayerSite& site, Memory& memory)
      : site_(site),
        weight_(site.parameters[0]),
        bias_(site.parameter(1)),
        activation_(site, site.settings->activation("activation"), memory),
        kernel_(
            site.device->conv2d(conv2d_spec(window_of(*site.settings),
                                            site.output.shape, site.input()[2]),
                                site.max_batch)) {
    const tensor::Shape& w = weight_.shape;
    turned_ = memory.allocate({w[3], w[1], w[2], w[0]});
    if (site.training) turned_gradient_ = memory.allocate(turned_.shape);
  }

  void absorb(const Scaling& scaling) override { scaling_ = scaling; }

  void freeze() override {
    weight_ = site_.parameters[0];
    bias_ = site_.parameter(1);
    folded_ = fold(*site_.device, weight_, bias_, scaling_);
    scaling_ = {};
    frozen_ = false;
    turn();
    frozen_ = true;
  }

  void forward(const Flow& flow, const Step& step) override {
    turn();
    kernel_->backward_data(flow.y, flow.x[0], turned_);
    if (!bias_.empty()) site_.device->add_bias(flow.y, bias_);
    activation_.forward(flow.y, step.training);
  }

  void backward(const Flow& flow, const Step&) override {
    activation_.backward(flow.dy, flow.y);
    kernel_->backward_weights(turned_gradient_, {}, flow.dy, flow.x[0]);
    site_.device->copy_strided(turning().exchanged(), site_.gradient(0),
                               turned_gradient_, false);
    if (!site_.gradient(1).empty())
      site_.device->sum_rows(site_.gradient(1), flow.dy);
    if (!flow.dx[0].empty()) kernel_->forward(flow.dx[0], flow.dy, turned_, {});
  }

 private:
  // From [filters, points, channels] to [channels, points, filters].
  device::Strided turning() const {
    const tensor::Shape& w = weight_.shape;
    const std::int64_t points = w[1] * w[2];
    device::Strided s;
    return s.over(w[3], points * w[0], 1)
        .over(points, w[0], w[3])
        .over(w[0], 1, points * w[3]);
  }
  void turn() {
    if (!frozen_)
      site_.device->copy_strided(turning(), turned_, weight_, false);
  }

  LayerSite site_;
  View weight_, bias_;  // the site's or folded_
  View turned_, turned_gradient_;
  Scaling scaling_;  // of the batch normalization behind
  Folded folded_;
  bool frozen_ = false;  // turned_ has the weights
  FusedActivation activation_;
  std::unique_ptr<device::Conv2d> kernel_;
};

LayerShape infer_conv2d_transpose(const LayerSettings& settings,
                                  std::span<const ValueSpec> inputs) {
  const Window window = window_of(settings);
  const tensor::Shape output = output_of(settings, inputs[0].shape);
  const std::int64_t filters = output[2], channels = inputs[0].shape[2];
  const tensor::Shape weight = checked_shape(
      {filters, window.kernel[0], window.kernel[1], channels}, "weight");
  const std::int64_t points = weight[1] * weight[2];
  const bool bias = settings.flag("bias");
  LayerShape plan{
      .output = {output, false, inputs[0].copies},
      .parameters = {{.name = "weight",
                      .shape = weight,
                      .fan_in = channels * points,
                      .fan_out = filters * points /
                                 (window.stride[0] * window.stride[1])}}};
  if (bias)
    plan.parameters.push_back(
        {.name = "bias", .shape = {filters}, .role = Role::kBias});
  plan.flops =
      numbers_in(inputs[0].shape) * 2 * static_cast<double>(points * filters) +
      (bias ? numbers_in(output) : 0) + activation_flops(settings, output);
  plan.buffers = activated(settings);
  return plan;
}

}  // namespace

const LayerType& conv2d_transpose() {
  static const LayerType type{
      .name = "conv2d_transpose",
      .words =
          "The transpose of a convolution: each pixel of the input adds W "
          "times its\n"
          "channels to a window of the output, y = f(conv'(x, W) + b).\n"
          "W is [filters, kernel height, kernel width, channels].\n"
          "With *padding* valid, output = (input - 1) \\* stride + "
          "(kernel - 1) \\* dilation + 1;\n"
          "with same, output = input \\* stride.",
      .other_names = {"deconvolution2d", "deconvolution", "deconv2d",
                      "convtranspose2d"},
      .keys = convolution_keys(2),
      .trains = Trains::kWeights,
      .absorbs = is_linear,
      .activates = true,
      .infer = infer_conv2d_transpose,
      .make = make<Conv2dTranspose>};
  return type;
}

}  // namespace dl::nn::layers
