// Convolutions: kernels come as [window..., channels, filters].

#include <algorithm>
#include <numeric>

#include "libcore/base/display.h"
#include "libcore/convert/import/axes.h"
#include "libcore/convert/import/keras/fills.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

using tensor::Shape;

Shape shape_of(Sizes sizes) {
  return Shape(std::span<const std::int64_t>(sizes));
}

// Window of a convolution.
struct Window {
  Sizes kernel, stride, dilation;
  std::string padding;

  std::size_t axes() const { return kernel.size(); }
  // [window..., a, b]
  Shape with(std::int64_t a, std::int64_t b) const {
    Sizes all = kernel;
    all.push_back(a);
    all.push_back(b);
    return shape_of(all);
  }
  void put_into(Json& node) const {
    put_axes(node, "kernel", kernel);
    put_axes(node, "stride", stride);
    put_axes(node, "dilation", dilation);
    node["padding"] = padding;
  }
};

Window window_of(const Site& site, std::size_t axes) {
  Window window;
  if (axes == 2 && site.has({"nb_row"}))
    window.kernel = {site.integer({"nb_row"}, 1, kMostExtent),
                     site.integer({"nb_col"}, 1, kMostExtent)};
  else
    window.kernel =
        site.integers({"kernel_size", "filter_length"}, axes, 1, kMostExtent);
  window.stride = site.integers({"strides", "subsample", "subsample_length"},
                                axes, 1, kMostExtent, Sizes(axes, 1));
  window.dilation = site.integers({"dilation_rate", "atrous_rate"}, axes, 1,
                                  kMostExtent, Sizes(axes, 1));
  window.padding = site.text({"padding", "border_mode"}, "valid");
  if (window.padding != "valid" && window.padding != "same" &&
      !(window.padding == "causal" && axes == 1))
    site.refuse("its padding is " + in_quotes(window.padding));
  return window;
}

// The input as convolutions take it here; a mask is forgotten, as Keras does.
Flow input_of(Site& site, std::size_t axes) {
  Flow value = site.without_mask(site.only());
  if (site.shape(value).rank() != static_cast<int>(axes) + 1)
    site.refuse("its input is " + site.shape(value).to_string() + ", of " +
                std::to_string(site.shape(value).rank()) +
                " dimensions; want " + std::to_string(axes + 1));
  return site.channels_first(axes) ? site.channels_last(value)
                                   : site.as_keras(value);
}

// Theano's kernels are mirrored in all axes of the window, but for those of
// single channels, which Keras mirrors itself.
std::vector<int> mirrored(const Site& site, const Window& window) {
  std::vector<int> axes(site.dialect().theano() ? window.axes() : 0);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// Theano's "same" has half a window before the input, and what is left behind:
// zeros are put there, and none left to the convolution.
Flow padded_as_theano(Site& site, const Flow& value, Window& window) {
  if (!site.dialect().theano() || window.padding != "same") return value;
  const Shape shape = site.shape(value);
  Sizes sides, cut;
  bool alike = true;
  for (std::size_t k = 0; k < window.axes(); ++k) {
    const std::int64_t in = shape[static_cast<int>(k)];
    const std::int64_t reach = (window.kernel[k] - 1) * window.dilation[k] + 1;
    const std::int64_t out = (in + window.stride[k] - 1) / window.stride[k];
    const std::int64_t total = (out - 1) * window.stride[k] + reach - in;
    const std::int64_t before = reach / 2, behind = total - before;
    alike &= before == std::max<std::int64_t>(total, 0) / 2;
    sides.insert(sides.end(), {before, std::max<std::int64_t>(behind, 0)});
    cut.insert(cut.end(), {0, std::max<std::int64_t>(-behind, 0)});
  }
  if (alike) return value;
  if (window.axes() > 2)
    site.refuse(
        "its padding \"same\" is Theano's; a padding of volumes would be "
        "needed");
  window.padding = "valid";
  const std::string axes = std::to_string(window.axes()) + "d";
  Flow wide = site.add(
      "before", {{"type", "zero_pad" + axes}, {"padding", sides}}, {value});
  if (std::ranges::count(cut, 0) == static_cast<long>(cut.size())) return wide;
  return site.add("behind", {{"type", "crop" + axes}, {"cropping", cut}},
                  {wide});
}

bool has_bias(const Site& site) {
  return site.flag({"use_bias", "bias"}, true);
}

// [window..., channels, multiplier] as [channels multiplier, window..., 1]
Fill depthwise(const Array& kernel) {
  const int rank = kernel.shape.rank();
  std::vector<int> axes = {rank - 2, rank - 1};
  for (int k = 0; k + 2 < rank; ++k) axes.push_back(k);
  return permuted(kernel, axes);
}

// Groups: each filter sees the channels of its own; side by side.
Flow grouped(Site& site, const Flow& value, const Window& window,
             std::int64_t filters, std::int64_t groups,
             const std::vector<Array>& arrays) {
  const std::int64_t channels = site.shape(value).back();
  const std::int64_t in = channels / groups, out = filters / groups;
  std::vector<Flow> parts;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::string part = "group" + std::to_string(g);
    const Flow some =
        site.add(part + ".in",
                 {{"type", "subset"}, {"begin", g * in}, {"end", (g + 1) * in}},
                 {value});
    Json node{{"type", "conv" + std::to_string(window.axes()) + "d"},
              {"filters", out},
              {"bias", has_bias(site)}};
    window.put_into(node);
    site.add_training(node, "kernel");
    const Flow made = site.add(part, node, {some});
    site.fill(made.node, "weight",
              [=, kernel = arrays[0]](std::span<float> to) {
                const std::size_t window_in =
                    to.size() / static_cast<std::size_t>(out);
                for (std::size_t f = 0; f < static_cast<std::size_t>(out); ++f)
                  for (std::size_t k = 0; k < window_in; ++k)
                    to[f * window_in + k] =
                        kernel.values[k * static_cast<std::size_t>(filters) +
                                      static_cast<std::size_t>(g * out) + f];
              });
    if (has_bias(site)) {
      site.fill(made.node, "bias", [=, bias = arrays[1]](std::span<float> to) {
        std::ranges::copy(
            bias.values.subspan(static_cast<std::size_t>(g * out), to.size()),
            to.begin());
      });
    }
    parts.push_back(made);
  }
  const Flow all = site.add("", {{"type", "merge"}}, parts);
  return site.has({"activation"})
             ? activated(site, all, site.view({"activation"}).raw())
             : all;
}

// A convolution over an image that is one column of a series: f makes it, with
// the window as it is there.
Window as_image(Window window) {
  window.kernel.push_back(1);
  window.stride.push_back(1);
  window.dilation.push_back(1);
  return window;
}

Flow column_of(Site& site, const Flow& value, Window& window) {
  Flow flow = site.column(value);
  if (window.padding == "causal") {
    const std::int64_t before = (window.kernel[0] - 1) * window.dilation[0];
    flow = site.add("before",
                    {{"type", "zero_pad2d"}, {"padding", {before, 0, 0, 0}}},
                    {flow});
    window.padding = "valid";
  }
  return flow;
}

// A node with the layer's activation; of a series, which is one again.
Flow finished(Site& site, Json node, const Flow& value, bool series) {
  if (!series) return add_activated(site, std::move(node), {value});
  const Flow flow =
      site.series(site.add("", std::move(node), {value}), "series");
  return site.has({"activation"})
             ? activated(site, flow, site.view({"activation"}).raw())
             : flow;
}

template <std::size_t kAxes>
Flow convolution(Site& site) {
  Window window = window_of(site, kAxes);
  Flow value = padded_as_theano(site, input_of(site, kAxes), window);
  const std::int64_t filters =
      site.integer({"filters", "nb_filter"}, 1, kMostUnits);
  const std::int64_t channels = site.shape(value).back();
  const std::int64_t groups = site.integer({"groups"}, 1, kMostExtent, 1);
  if (channels % groups != 0 || filters % groups != 0)
    site.refuse("its groups divide neither channels nor filters");
  const bool bias = has_bias(site);
  std::vector<Shape> shapes = {window.with(channels / groups, filters)};
  if (bias) shapes.push_back({filters});
  const auto arrays = site.take("", shapes);
  const Fill kernel = last_first(arrays[0], mirrored(site, window));
  const bool columns = site.as_columns(kAxes);
  if (columns) {
    value = column_of(site, value, window);
    window = as_image(window);
  }
  const bool by_channel = groups > 1 && groups == channels && kAxes == 2;
  if (groups > 1 && !by_channel) {
    if (site.dialect().theano()) site.refuse("it has groups, and is Theano's");
    if (columns) site.refuse("it has groups, and is in a TimeDistributed");
    return grouped(site, value, window, filters, groups, arrays);
  }
  Json node{{"bias", bias}};
  if (by_channel) {
    node["type"] = "depthwise_conv2d";
    node["depth_multiplier"] = filters / channels;
  } else {
    node["type"] = "conv" + std::to_string(window.axes()) + "d";
    node["filters"] = filters;
  }
  window.put_into(node);
  site.add_training(node, "kernel");
  const Flow flow = finished(site, std::move(node), value, columns);
  site.fill("weight", kernel);
  if (bias) site.fill("bias", as_is(arrays[1]));
  return flow;
}

template <std::size_t kAxes>
Flow depthwise_convolution(Site& site) {
  Window window = window_of(site, kAxes);
  Flow value = padded_as_theano(site, input_of(site, kAxes), window);
  const std::int64_t multiplier =
      site.integer({"depth_multiplier"}, 1, kMostExtent, 1);
  const bool bias = has_bias(site);
  const std::int64_t channels = site.shape(value).back();
  std::vector<Shape> shapes = {window.with(channels, multiplier)};
  if (bias) shapes.push_back({channels * multiplier});
  const auto arrays = site.take("", shapes);
  const Fill kernel = depthwise(arrays[0]);
  if (kAxes == 1) {
    value = column_of(site, value, window);
    window = as_image(window);
  }
  Json node{{"type", "depthwise_conv2d"},
            {"depth_multiplier", multiplier},
            {"bias", bias}};
  window.put_into(node);
  site.add_training(node, "depthwise");
  const Flow flow = finished(site, std::move(node), value, kAxes == 1);
  site.fill("weight", kernel);
  if (bias) site.fill("bias", as_is(arrays[1]));
  return flow;
}

template <std::size_t kAxes>
Flow separable_convolution(Site& site) {
  Window window = window_of(site, kAxes);
  Flow value = padded_as_theano(site, input_of(site, kAxes), window);
  const std::int64_t filters =
      site.integer({"filters", "nb_filter"}, 1, kMostUnits);
  const std::int64_t multiplier =
      site.integer({"depth_multiplier"}, 1, kMostExtent, 1);
  const bool bias = has_bias(site);
  const std::int64_t channels = site.shape(value).back();
  Window point{Sizes(kAxes, 1), {}, {}, {}};
  std::vector<Shape> shapes = {window.with(channels, multiplier),
                               point.with(channels * multiplier, filters)};
  if (bias) shapes.push_back({filters});
  const auto arrays = site.take("", shapes);
  const Fill kernel = depthwise(arrays[0]);
  if (kAxes == 1) {
    value = column_of(site, value, window);
    window = as_image(window);
  }
  Json node{{"type", "separable_conv2d"},
            {"filters", filters},
            {"depth_multiplier", multiplier},
            {"bias", bias}};
  window.put_into(node);
  site.add_training(node, "depthwise");
  const Flow flow = finished(site, std::move(node), value, kAxes == 1);
  site.fill("depth_weight", kernel);
  site.fill("point_weight", last_first(arrays[1]));
  if (bias) site.fill("bias", as_is(arrays[2]));
  return flow;
}

// Where the stride is larger than the window, Keras's output has zeros at its
// end: as with a window of the stride's size that ends in zeros.
template <std::size_t kAxes>
Flow transposed(Site& site) {
  Flow value = input_of(site, kAxes);
  Window window = window_of(site, kAxes);
  const std::int64_t filters = site.integer({"filters"}, 1, kMostUnits);
  const std::int64_t channels = site.shape(value).back();
  const bool bias = has_bias(site);
  if (site.has({"output_padding"}))
    site.refuse(
        "it has an output_padding; a transposed convolution with one "
        "would be needed");
  for (std::size_t k = 0; k < kAxes; ++k) {
    if (window.stride[k] > window.kernel[k])
      site.refuse(
          "its stride is larger than its window; a transposed "
          "convolution with gaps would be needed");
    const std::int64_t reach = (window.kernel[k] - 1) * window.dilation[k] + 1;
    if (site.dialect().theano() && window.padding == "same" &&
        reach / 2 != (reach - window.stride[k]) / 2)
      site.refuse(
          "its padding \"same\" is Theano's; a transposed convolution with "
          "padding in numbers would be needed");
  }
  std::vector<Shape> shapes = {window.with(filters, channels)};
  if (bias) shapes.push_back({filters});
  const auto arrays = site.take("", shapes);
  // [window..., filters, channels] as [filters, window..., channels]
  std::vector<int> axes = {static_cast<int>(kAxes)};
  for (int k = 0; k < static_cast<int>(kAxes); ++k) axes.push_back(k);
  axes.push_back(static_cast<int>(kAxes) + 1);
  const Fill kernel = permuted(arrays[0], axes, mirrored(site, window));
  if (kAxes == 1) {
    value = column_of(site, value, window);
    window = as_image(window);
  }
  Json node{{"type", "conv2d_transpose"}, {"filters", filters}, {"bias", bias}};
  window.put_into(node);
  site.add_training(node, "kernel");
  const Flow flow = finished(site, std::move(node), value, kAxes == 1);
  site.fill("weight", kernel);
  if (bias) site.fill("bias", as_is(arrays[1]));
  return flow;
}

}  // namespace

std::vector<Class> convolution_classes() {
  return {{"Conv1D", convolution<1>},
          {"Conv2D", convolution<2>},
          {"Conv3D", convolution<3>},
          {"Convolution1D", convolution<1>},
          {"Convolution2D", convolution<2>},
          {"Convolution3D", convolution<3>},
          {"AtrousConvolution1D", convolution<1>},
          {"AtrousConvolution2D", convolution<2>},
          {"DepthwiseConv1D", depthwise_convolution<1>},
          {"DepthwiseConv2D", depthwise_convolution<2>},
          {"SeparableConv1D", separable_convolution<1>},
          {"SeparableConv2D", separable_convolution<2>},
          {"SeparableConvolution2D", separable_convolution<2>},
          {"Conv1DTranspose", transposed<1>},
          {"Conv2DTranspose", transposed<2>}};
}

}  // namespace dl::convert::keras
