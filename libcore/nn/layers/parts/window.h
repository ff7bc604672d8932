// Windows that slide over series, images and volumes: what convolution and
// pooling have in common.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_WINDOW_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_WINDOW_H_

#include <cstdint>
#include <vector>

#include "libcore/device/api/device.h"
#include "libcore/nn/config/config_table.h"
#include "libcore/nn/config/names.h"
#include "libcore/nn/config/settings.h"

namespace dl::nn {

// valid: no padding.  same: output = ceil(input / stride), the odd pixel of
// padding at the end (bottom, right).  causal: as many, all padding before.
enum class Padding { kValid, kSame, kCausal };
template <>
std::span<const std::string_view> names_of<Padding>();

namespace layers {

// By axis: [steps], [height, width] or [depth, height, width].
struct Window {
  std::vector<std::int64_t> kernel, stride, dilation;
  Padding padding = Padding::kValid;
};

// kernel, stride and padding of the settings, and dilation where they have it.
Window window_of(const LayerSettings& settings);
// Sets the default stride of pooling.
void stride_as_kernel(LayerSettings& settings);

// The keys of a window over so many axes; `kernel` is its default.
std::vector<Key> convolution_keys(int axes);
std::vector<Key> pooling_keys(int axes);

// Its output over an input [.., channels], of so many channels.
// Throws Error: kConfig, "kernel 5x5 is larger than its input 4x4x50".
tensor::Shape slide(const Window& window, const tensor::Shape& input,
                    std::int64_t channels);

// The primitives over such an input, their padding worked out; a series is an
// image of height 1.
device::Conv2dSpec conv2d_spec(const Window& window, const tensor::Shape& input,
                               std::int64_t filters);
device::Conv3dSpec conv3d_spec(const Window& window, const tensor::Shape& input,
                               std::int64_t filters);
device::Pool2dSpec pool2d_spec(const Window& window, const tensor::Shape& input,
                               device::Pooling kind);
device::Pool3dSpec pool3d_spec(const Window& window, const tensor::Shape& input,
                               device::Pooling kind);

// [n, steps, features] as [n, 1, steps, features].
tensor::View series_as_images(const tensor::View& series);

}  // namespace layers
}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_WINDOW_H_
