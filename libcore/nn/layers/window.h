// Windows that slide over images: what convolution and pooling have in common.

#ifndef DL_LIBCORE_NN_LAYERS_WINDOW_H_
#define DL_LIBCORE_NN_LAYERS_WINDOW_H_

#include <array>
#include <cstdint>

#include "libcore/nn/config_table.h"
#include "libcore/nn/names.h"
#include "libcore/nn/settings.h"
#include "libcore/tensor/device.h"

namespace dl::nn {

// valid: no padding.  same: output = ceil(input / stride), the odd pixel of
// padding at the end (bottom, right).
enum class Padding { kValid, kSame };
template <>
std::span<const std::string_view> names_of<Padding>();

namespace layers {

struct Window {
  std::array<std::int64_t, 2> kernel{1, 1}, stride{1, 1}, dilation{1, 1};
  Padding padding = Padding::kValid;
};

// kernel, stride and padding of the settings, and dilation where they have it.
Window window_of(const Settings& settings);
Key padding_key();

// Its output over an input [height, width, channels], of so many channels.
// Throws Error: kConfig, "kernel 5x5 is larger than its input 4x4x50".
tensor::Shape slide(const Window& window, const tensor::Shape& input,
                    std::int64_t channels);

// The primitives over such an input, their padding worked out.
tensor::Conv2dSpec conv2d_spec(const Window& window, const tensor::Shape& input,
                               std::int64_t filters);
tensor::Pool2dSpec pool2d_spec(const Window& window, const tensor::Shape& input,
                               tensor::Pooling kind);

}  // namespace layers
}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LAYERS_WINDOW_H_
