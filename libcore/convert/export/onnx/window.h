// Windows that slide, as ONNX says where they lie.

#ifndef DL_LIBCORE_CONVERT_EXPORT_ONNX_WINDOW_H_
#define DL_LIBCORE_CONVERT_EXPORT_ONNX_WINDOW_H_

#include <string>

#include "libcore/convert/export/onnx/layer.h"
#include "libcore/nn/layers/parts/window.h"

namespace dl::convert {

// By axis, with the padding worked out.
struct OnnxWindow {
  Ints kernel, stride, dilation, begin, end;
  // kernel_shape, strides and pads.
  OnnxAttributes attributes() const;
};

// Window of the layer's settings over its input; over another.
OnnxWindow window_of(const OnnxLayer& layer);
OnnxWindow window_over(const OnnxLayer& layer, const tensor::Shape& shape);

// Mask of a series where the number of steps changes: 1 for windows with a step
// that counts; "" for none.
std::string mask_of_windows(OnnxLayer& layer, const OnnxWindow& window);
// [batch, steps] of windows.
std::string any_of_windows(OnnxLayer& layer, const OnnxWindow& window);
// The share of each window that counts.
std::string share_of_windows(OnnxLayer& layer, const OnnxWindow& window);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_ONNX_WINDOW_H_
