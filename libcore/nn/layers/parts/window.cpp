// Keys and sizes of sliding windows.

#include "libcore/nn/layers/parts/window.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layers/parts/steps_hint.h"

namespace dl::nn {

template <>
std::span<const std::string_view> names_of<Padding>() {
  static constexpr std::string_view kNames[] = {"valid", "same", "causal"};
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
  if (w.padding == Padding::kCausal) return {out, window - 1, 0};
  const std::int64_t pad =
      std::max<std::int64_t>(0, (out - 1) * stride + window - in);
  return {out, pad / 2, pad - pad / 2};
}

std::string by(std::span<const std::int64_t> extents) {
  std::string text;
  for (const std::int64_t extent : extents)
    text.append(text.empty() ? "" : "x").append(std::to_string(extent));
  return text;
}

// Fields that the primitives have in common; axes that the input lacks are 1
// long.
template <typename Spec>
void lay_over(Spec& spec, const Window& window, const Shape& input) {
  constexpr std::size_t kAxes = std::size(Spec().kernel);
  const std::size_t axes = window.kernel.size(), missing = kAxes - axes;
  std::int64_t extents[kAxes];
  for (std::size_t i = 0; i < kAxes; ++i) {
    const bool there = i >= missing;
    const std::size_t axis = there ? i - missing : 0;
    const Extent e = there ? place(window, input, axis) : Extent{1, 0, 0};
    extents[i] = there ? input[static_cast<int>(axis)] : 1;
    spec.kernel[i] = there ? window.kernel[axis] : 1;
    spec.stride[i] = there ? window.stride[axis] : 1;
    spec.pad_begin[i] = e.pad_begin;
    spec.pad_end[i] = e.pad_end;
  }
  if constexpr (kAxes == 3) spec.depth = extents[0];
  spec.height = extents[kAxes - 2];
  spec.width = extents[kAxes - 1];
  spec.channels = input.back();
}

template <typename Spec>
Spec convolution(const Window& window, const Shape& input,
                 std::int64_t filters) {
  Spec spec;
  lay_over(spec, window, input);
  spec.filters = filters;
  std::ranges::copy_backward(window.dilation, std::end(spec.dilation));
  return spec;
}

template <typename Spec>
Spec pooling(const Window& window, const Shape& input, device::Pooling kind) {
  Spec spec;
  lay_over(spec, window, input);
  spec.kind = kind;
  return spec;
}

Key window_key(int axes, std::string_view name, std::string_view fallback,
               std::string_view doc) {
  if (axes == 1) return key::integer(name, fallback, doc, kSmall);
  return key::tuple(name, fallback, doc,
                    axes == 2 ? "[height, width]" : "[depth, height, width]");
}

std::string_view all_of(int axes, std::string_view one, std::string_view two,
                        std::string_view three) {
  return axes == 1 ? one : axes == 2 ? two : three;
}

Key kernel_key(int axes, std::string_view fallback) {
  return window_key(axes, "kernel", fallback,
                    all_of(axes, "Size of the window, in steps.",
                           "Size of the window, [height, width].",
                           "Size of the window, [depth, height, width]."));
}

Key padding_key(bool causal) {
  return key::one_of("padding", R"("valid")", "Padding at the edges.",
                     names_of<Padding>().first(causal ? 3 : 2));
}

const char* wanted(std::size_t axes) {
  switch (axes) {
    case 1:
      return "a series [steps, features]";
    case 2:
      return "an image [height, width, channels]";
    default:
      return "a volume [depth, height, width, channels]";
  }
}

}  // namespace

Window window_of(const LayerSettings& settings) {
  Window window{.kernel = settings.integers("kernel"),
                .stride = settings.integers("stride"),
                .dilation = {},
                .padding = settings.one_of<Padding>("padding")};
  window.dilation.assign(window.kernel.size(), 1);
  if (settings.has("dilation")) window.dilation = settings.integers("dilation");
  return window;
}

void stride_as_kernel(LayerSettings& settings) {
  if (!settings.has("stride")) settings.set("stride", settings.at("kernel"));
}

std::vector<Key> convolution_keys(int axes) {
  const std::string_view ones = all_of(axes, "1", "[1, 1]", "[1, 1, 1]");
  return {key::integer("filters", "required", "Channels of the output."),
          kernel_key(axes, "required"),
          window_key(axes, "stride", ones, "Steps of the window."),
          window_key(axes, "dilation", ones,
                     "Distance of the window's points; 1 leaves no gaps."),
          padding_key(axes == 1),
          key::bias(),
          key::activation(R"("identity")")};
}

std::vector<Key> pooling_keys(int axes) {
  return {kernel_key(axes, all_of(axes, "2", "[2, 2]", "[2, 2, 2]")),
          window_key(axes, "stride", "(the kernel)", "Steps of the window."),
          padding_key(false)};
}

Shape slide(const Window& window, const Shape& input, std::int64_t channels) {
  const std::size_t axes = window.kernel.size();
  if (static_cast<std::size_t>(input.rank()) != axes + 1)
    throw Error{Code::kConfig, std::string("wants ") + wanted(axes) +
                                   ", its input is " + input.to_string() +
                                   (axes == 1 ? steps_hint(input) : "")};
  std::vector<std::int64_t> extents;
  extents.reserve(axes);
  for (std::size_t axis = 0; axis < axes; ++axis)
    extents.push_back(place(window, input, axis).out);
  if (std::ranges::count(extents, 0) == 0) {
    extents.push_back(channels);
    return checked_shape(extents, "its output");
  }
  std::string what = "kernel " + by(window.kernel);
  if (window.dilation != std::vector<std::int64_t>(axes, 1))
    what += ", dilated by " + by(window.dilation) + ",";
  throw Error{Code::kConfig,
              what + " is larger than its input " + by(input.extents())};
}

device::Conv2dSpec conv2d_spec(const Window& window, const Shape& input,
                               std::int64_t filters) {
  return convolution<device::Conv2dSpec>(window, input, filters);
}
device::Conv3dSpec conv3d_spec(const Window& window, const Shape& input,
                               std::int64_t filters) {
  return convolution<device::Conv3dSpec>(window, input, filters);
}
device::Pool2dSpec pool2d_spec(const Window& window, const Shape& input,
                               device::Pooling kind) {
  return pooling<device::Pool2dSpec>(window, input, kind);
}
device::Pool3dSpec pool3d_spec(const Window& window, const Shape& input,
                               device::Pooling kind) {
  return pooling<device::Pool3dSpec>(window, input, kind);
}

tensor::View series_as_images(const tensor::View& series) {
  if (series.empty()) return {};
  const Shape& s = series.shape;
  return series.reshaped({s[0], 1, s[1], s[2]});
}

}  // namespace layers
}  // namespace dl::nn
