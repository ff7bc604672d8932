// Convolution channel by channel.

#include "libcore/nn/layers/parts/convolution.h"
#include "libcore/nn/layers/parts/window.h"

namespace dl::nn::layers {
namespace {

LayerShape infer_depthwise_conv2d(const LayerSettings& settings,
                                  std::span<const ValueSpec> inputs) {
  return infer_depthwise(settings, inputs[0]);
}

std::unique_ptr<Layer> make_depthwise(const LayerSite& site, Memory& memory) {
  return std::make_unique<Convolution>(
      site, memory,
      site.device->conv2d(depthwise_spec(*site.settings, site.input()),
                          site.max_batch));
}

}  // namespace

const LayerType& depthwise_conv2d() {
  static const LayerType type = [] {
    std::vector<Key> keys = convolution_keys(2);
    keys.front() = depth_multiplier_key();  // no `filters`
    return LayerType{
        .name = "depthwise_conv2d",
        .words =
            "A convolution of each channel by itself, with *depth_multiplier* "
            "filters: output\n"
            "channel c \\* depth_multiplier + m is the m-th of channel c.\n"
            "W is [channels \\* depth_multiplier, kernel height, kernel width, "
            "1].",
        .other_names = {"depthwiseconvolution2d", "depthwiseconv"},
        .keys = keys,
        .trains = Trains::kWeights,
        .absorbs = is_linear,
        .activates = true,
        .infer = infer_depthwise_conv2d,
        .make = make_depthwise};
  }();
  return type;
}

}  // namespace dl::nn::layers
