// Convolution of images; with a max pooling layer behind it, that as well.

#include "libcore/nn/layers/conv2d.h"

#include <algorithm>

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layers/parts/convolution.h"
#include "libcore/nn/layers/parts/window.h"

namespace dl::nn::layers {
namespace {

using device::Activation;

template <bool pools>
std::unique_ptr<Layer> make_conv2d(const LayerSite& site, Memory& memory) {
  const device::Conv2dSpec spec =
      conv2d_spec(window_of(*site.settings), site.input(),
                  site.settings->integer("filters"));
  return std::make_unique<Convolution>(
      site, memory,
      pools ? site.device->conv2d_max_pool(spec, site.max_batch)
            : site.device->conv2d(spec, site.max_batch));
}

// max f(x) = f(max x) for these.
bool never_decreases(const device::ActivationSpec& f) {
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

LayerShape infer_conv2d(const LayerSettings& settings,
                        std::span<const ValueSpec> inputs) {
  return infer_convolution(settings, inputs[0], settings.integer("filters"));
}

}  // namespace

const LayerType& conv2d() {
  static const LayerType type{
      .name = "conv2d",
      .words =
          "A 2D convolution over an image, y = f(conv(x, W) + b).\nW is "
          "[filters, kernel height, kernel width, channels].",
      .other_names = {"convolution", "convolution2d", "conv"},
      .keys = convolution_keys(2),
      .trains = Trains::kWeights,
      .absorbs = is_linear,
      .activates = true,
      .infer = infer_conv2d,
      .make = make_conv2d<false>};
  return type;
}

std::unique_ptr<Layer> make_conv2d_max_pool2d(const LayerSite& site,
                                              Memory& memory) {
  return make_conv2d<true>(site, memory);
}

bool pools_at_once(const LayerConfig& layer, const LayerConfig& next,
                   const tensor::Shape& between) {
  if (layer.type->name != "conv2d" || next.type->name != "max_pool2d" ||
      !never_decreases(layer.settings.activation("activation")))
    return false;
  const device::Pool2dSpec pool =
      pool2d_spec(window_of(next.settings), between, device::Pooling::kMax);
  const auto all = [](const std::int64_t(&of)[2], std::int64_t want) {
    return std::ranges::count(of, want) == 2;
  };
  return all(pool.kernel, 2) && all(pool.stride, 2) && all(pool.pad_begin, 0) &&
         all(pool.pad_end, 0);
}

}  // namespace dl::nn::layers
