// Convolution of volumes.

#include "libcore/nn/layers/parts/convolution.h"
#include "libcore/nn/layers/parts/window.h"

namespace dl::nn::layers {
namespace {

LayerShape infer_conv3d(const LayerSettings& settings,
                        std::span<const ValueSpec> inputs) {
  return infer_convolution(settings, inputs[0], settings.integer("filters"));
}

std::unique_ptr<Layer> make_conv3d(const LayerSite& site, Memory& memory) {
  const device::Conv3dSpec spec =
      conv3d_spec(window_of(*site.settings), site.input(),
                  site.settings->integer("filters"));
  return std::make_unique<Convolution>(
      site, memory, site.device->conv3d(spec, site.max_batch));
}

}  // namespace

const LayerType& conv3d() {
  static const LayerType type{
      .name = "conv3d",
      .words =
          "A 3D convolution over a volume, y = f(conv(x, W) + b).\nW is "
          "[filters, kernel depth, kernel height, kernel width, channels].",
      .other_names = {"convolution3d"},
      .keys = convolution_keys(3),
      .trains = Trains::kWeights,
      .absorbs = is_linear,
      .activates = true,
      .infer = infer_conv3d,
      .make = make_conv3d};
  return type;
}

}  // namespace dl::nn::layers
