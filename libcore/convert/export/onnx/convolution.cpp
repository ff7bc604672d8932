// Convolutions: channels first, weights [filters, channels, ...kernel].

#include <iterator>

#include "libcore/convert/export/onnx/layer.h"
#include "libcore/convert/export/onnx/window.h"

namespace dl::convert {
namespace {

OnnxAttributes attributes(const OnnxWindow& window, std::int64_t groups) {
  OnnxAttributes all = window.attributes();
  all.emplace_back("dilations", window.dilation);
  all.emplace_back("group", groups);
  return all;
}

// Weight i, [filters, ...kernel, channels], as ONNX wants it.
std::string kernel(OnnxLayer& layer, std::size_t i) {
  return layer.turned_weight(i, channels_first(layer.shape(i).rank() - 1));
}

std::string bias(OnnxLayer& layer, std::size_t i) {
  return layer.settings.flag("bias") ? layer.weight(i) : std::string();
}

void convolve(OnnxLayer& layer, std::int64_t groups) {
  const OnnxWindow window = window_of(layer);
  give_activated(
      layer,
      layer.graph.node("Conv",
                       {layer.x_first(), kernel(layer, 0), bias(layer, 1)},
                       attributes(window, groups)),
      true);
}

void conv(OnnxLayer& layer) { convolve(layer, 1); }

void depthwise(OnnxLayer& layer) {
  convolve(layer, layer.inputs[0].shape.back());
}

void conv1d(OnnxLayer& layer) {
  const OnnxWindow window = window_of(layer);
  const std::string x =
      clear_steps(layer.graph, layer.x_first(), layer.mask(), 2, true);
  give_activated(layer,
                 layer.graph.node("Conv", {x, kernel(layer, 0), bias(layer, 1)},
                                  attributes(window, 1)),
                 true);
  layer.give_mask(mask_of_windows(layer, window));
}

void separable(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const std::string between =
      g.node("Conv", {layer.x_first(), kernel(layer, 0)},
             attributes(window_of(layer), layer.inputs[0].shape.back()));
  give_activated(
      layer, g.node("Conv", {between, kernel(layer, 1), bias(layer, 2)}), true);
}

// The window lies over the output.
void transpose(OnnxLayer& layer) {
  const OnnxWindow window = window_over(layer, layer.output.shape);
  OnnxAttributes all = attributes(window, 1);
  Ints more;
  for (std::size_t i = 0; i < 2; ++i) {
    const int axis = static_cast<int>(i);
    const std::int64_t covered =
        (layer.inputs[0].shape[axis] - 1) * window.stride[i] +
        (window.kernel[i] - 1) * window.dilation[i] + 1 - window.begin[i] -
        window.end[i];
    more.push_back(layer.output.shape[axis] - covered);
  }
  all.emplace_back("output_padding", more);
  give_activated(
      layer,
      layer.graph.node("ConvTranspose",
                       {layer.x_first(), layer.turned_weight(0, {3, 0, 1, 2}),
                        bias(layer, 1)},
                       all),
      true);
}

}  // namespace

std::span<const OnnxRule> onnx_convolution() {
  static constexpr OnnxRule kRules[] = {{"conv1d", conv1d},
                                        {"conv2d", conv},
                                        {"conv3d", conv},
                                        {"depthwise_conv2d", depthwise},
                                        {"separable_conv2d", separable},
                                        {"conv2d_transpose", transpose}};
  return kRules;
}

}  // namespace dl::convert
