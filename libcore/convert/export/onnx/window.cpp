// Pads and output sizes of windows in ONNX.

#include "libcore/convert/export/onnx/window.h"

#include <iterator>

namespace dl::convert {
namespace {

// The last axes of what a primitive says.
template <typename Spec>
void take(OnnxWindow& window, const Spec& spec) {
  const std::size_t missing = std::size(spec.kernel) - window.kernel.size();
  for (std::size_t i = missing; i < std::size(spec.kernel); ++i) {
    window.begin.push_back(spec.pad_begin[i]);
    window.end.push_back(spec.pad_end[i]);
  }
}

// Over the mask, gaps of a dilation included.
std::string pool_mask(OnnxLayer& layer, OnnxWindow window,
                      const std::string& type) {
  OnnxGraph& g = layer.graph;
  window.kernel[0] = (window.kernel[0] - 1) * window.dilation[0] + 1;
  const std::string x = g.node("Unsqueeze", {layer.mask(), g.ints({1})});
  return g.node("Squeeze",
                {g.node(type, {x}, window.attributes()), g.ints({1})});
}

}  // namespace

OnnxAttributes OnnxWindow::attributes() const {
  Ints pads = begin;
  pads.insert(pads.end(), end.begin(), end.end());
  return {{"kernel_shape", kernel}, {"strides", stride}, {"pads", pads}};
}

OnnxWindow window_over(const OnnxLayer& layer, const tensor::Shape& shape) {
  const nn::layers::Window own = nn::layers::window_of(layer.settings);
  OnnxWindow window{.kernel = own.kernel,
                    .stride = own.stride,
                    .dilation = own.dilation,
                    .begin = {},
                    .end = {}};
  if (own.kernel.size() == 3)
    take(window, nn::layers::conv3d_spec(own, shape, 1));
  else
    take(window, nn::layers::conv2d_spec(own, shape, 1));
  return window;
}

OnnxWindow window_of(const OnnxLayer& layer) {
  return window_over(layer, layer.inputs[0].shape);
}

std::string any_of_windows(OnnxLayer& layer, const OnnxWindow& window) {
  return pool_mask(layer, window, "MaxPool");
}

std::string share_of_windows(OnnxLayer& layer, const OnnxWindow& window) {
  return pool_mask(layer, window, "AveragePool");
}

std::string mask_of_windows(OnnxLayer& layer, const OnnxWindow& window) {
  if (layer.mask().empty() || !layer.output.steps ||
      layer.output.shape[0] == layer.inputs[0].shape[0])
    return {};
  return any_of_windows(layer, window);
}

}  // namespace dl::convert
