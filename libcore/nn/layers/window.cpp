#include "libcore/nn/layers/window.h"

#include <algorithm>
#include <string>

#include "libcore/nn/keys.h"

namespace dl::nn {

template <>
std::span<const std::string_view> names_of<Padding>() {
  static constexpr std::string_view kNames[] = {"valid", "same"};
  return kNames;
}

namespace layers {
namespace {

using tensor::Shape;

// How a window lies over one axis.
struct Extent {
  std::int64_t out = 0, pad_begin = 0, pad_end = 0;
};

Extent place(const Window& w, const Shape& input, std::size_t axis) {
  const std::int64_t in = input[static_cast<int>(axis)];
  const std::int64_t window = (w.kernel[axis] - 1) * w.dilation[axis] + 1;
  const std::int64_t stride = w.stride[axis];
  if (w.padding == Padding::kValid)
    return {window > in ? 0 : (in - window) / stride + 1, 0, 0};
  const std::int64_t out = (in + stride - 1) / stride;
  const std::int64_t pad =
      std::max<std::int64_t>(0, (out - 1) * stride + window - in);
  return {out, pad / 2, pad - pad / 2};
}

std::string by(std::int64_t a, std::int64_t b) {
  return std::to_string(a) + "x" + std::to_string(b);
}

// What conv2d and pooling primitives say alike.
template <typename Spec>
void lay_over(Spec& spec, const Window& window, const Shape& input) {
  spec.height = input[0];
  spec.width = input[1];
  spec.channels = input[2];
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const Extent e = place(window, input, axis);
    spec.kernel[axis] = window.kernel[axis];
    spec.stride[axis] = window.stride[axis];
    spec.pad_begin[axis] = e.pad_begin;
    spec.pad_end[axis] = e.pad_end;
  }
}

}  // namespace

Window window_of(const Settings& settings) {
  Window window{.kernel = settings.pair("kernel"),
                .stride = settings.pair("stride"),
                .padding = settings.one_of<Padding>("padding")};
  if (settings.has("dilation")) window.dilation = settings.pair("dilation");
  return window;
}

Key padding_key() {
  return key::one_of("padding", R"("valid")", "What is done at the edges.",
                     names_of<Padding>());
}

Shape slide(const Window& window, const Shape& input, std::int64_t channels) {
  if (input.rank() != 3)
    throw Error{Code::kConfig,
                "wants an image [height, width, channels], its input is " +
                    input.to_string()};
  const std::int64_t height = place(window, input, 0).out,
                     width = place(window, input, 1).out;
  if (height > 0 && width > 0) return {height, width, channels};
  const auto& [kernel, stride, dilation, padding] = window;
  std::string what = "kernel " + by(kernel[0], kernel[1]);
  if (dilation[0] != 1 || dilation[1] != 1)
    what += ", dilated by " + by(dilation[0], dilation[1]) + ",";
  throw Error{Code::kConfig, what + " is larger than its input " +
                                 by(input[0], input[1]) + "x" +
                                 std::to_string(input[2])};
}

tensor::Conv2dSpec conv2d_spec(const Window& window, const Shape& input,
                               std::int64_t filters) {
  tensor::Conv2dSpec spec;
  lay_over(spec, window, input);
  spec.filters = filters;
  std::ranges::copy(window.dilation, spec.dilation);
  return spec;
}

tensor::Pool2dSpec pool2d_spec(const Window& window, const Shape& input,
                               tensor::Pooling kind) {
  tensor::Pool2dSpec spec;
  lay_over(spec, window, input);
  spec.kind = kind;
  return spec;
}

}  // namespace layers
}  // namespace dl::nn
