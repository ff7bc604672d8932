// Convolutions: kernels come as [filters, channels, ...].

#include <algorithm>
#include <numeric>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/convert/import/onnx/window.h"

namespace dl::convert::onnx {
namespace {

Fill as_is(const Constant& constant) {
  return [constant](std::span<float> to) {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>(constant.at(i));
  };
}

// Axis i of the result is axes[i] of the kernel, of which `first` to `count` of
// the first axis are taken.
Fill kernel_fill(const Constant& kernel, const std::vector<int>& axes,
                 std::int64_t first, std::int64_t count) {
  return [=](std::span<float> to) {
    const Sizes& own = kernel.shape();
    Sizes steps(own.size(), 1), shape, step;
    for (std::size_t k = own.size(); k-- > 1;) steps[k - 1] = steps[k] * own[k];
    for (const int axis : axes) {
      const auto a = static_cast<std::size_t>(axis);
      shape.push_back(axis == 0 ? count : own[a]);
      step.push_back(steps[a]);
    }
    Sizes at(shape.size(), 0);
    std::int64_t place = first * steps[0];
    for (float& value : to) {
      value = static_cast<float>(kernel.at(static_cast<std::size_t>(place)));
      for (std::size_t k = shape.size(); k-- > 0;) {
        place += step[k];
        if (++at[k] < shape[k]) break;
        place -= step[k] * shape[k];
        at[k] = 0;
      }
    }
  };
}

// [filters, channels, ...] as [filters, ..., channels]
std::vector<int> channels_last(std::size_t axes) {
  std::vector<int> order = {0};
  for (std::size_t k = 0; k < axes; ++k)
    order.push_back(static_cast<int>(k) + 2);
  order.push_back(1);
  return order;
}

struct Convolution {
  Site& site;
  Flow input;  // [n, c, ...]
  const Constant& kernel;
  const Constant* bias;
  Window window;
  std::int64_t channels, groups;
};

Convolution convolution_of(Site& site) {
  const Constant& kernel = site.known(1, "kernel");
  const std::size_t rank = kernel.shape().size();
  if (rank < 3 || rank > 5)
    site.refuse("its kernel has " + std::to_string(rank) +
                " dimensions; 3 to 5 would be needed");
  const std::size_t axes = rank - 2;
  Flow input = site.image(site.flow(0), axes);
  Sizes extents;
  for (std::size_t k = 0; k < axes; ++k)
    extents.push_back(input.shape()[static_cast<int>(k)]);
  const Sizes places(kernel.shape().begin() + 2, kernel.shape().end());
  if (site.node().integers("kernel_shape", places) != places)
    site.refuse("its kernel_shape is not that of its weight");
  Window window = window_of(site, places, extents);
  const std::int64_t groups = site.node().integer("group", 1);
  const std::int64_t channels = input.shape().back();
  if (groups < 1 || channels % groups != 0 || kernel.shape()[0] % groups != 0)
    site.refuse("its groups divide neither channels nor filters");
  const Constant* bias = site.has(2) ? &site.known(2, "bias") : nullptr;
  return {site,  std::move(input), kernel, bias, std::move(window), channels,
          groups};
}

// With padding here, or with zeros around the input.
const char* pad(Convolution& c) {
  Window& w = c.window;
  if (!w.padded()) return "valid";
  Sizes extents;
  for (std::size_t k = 0; k < w.axes(); ++k)
    extents.push_back(c.input.shape()[static_cast<int>(k)]);
  if (w.is_same(extents)) return "same";
  static_cast<Value&>(c.input) = zero_padded(c.site, c.input, w.begin, w.end);
  return "valid";
}

// An axis of one for a layer of images.
void as_image(Convolution& c) {
  const tensor::Shape shape = c.input.shape();
  static_cast<Value&>(c.input) =
      c.site.reshaped(c.input, {shape[0], 1, shape[1]}, "column");
  for (Sizes* sizes : {&c.window.kernel, &c.window.stride, &c.window.dilation})
    sizes->push_back(1);
}

Value depthwise(Convolution& c, Json layer, const char* padding) {
  const std::size_t axes = c.window.axes();
  if (axes == 1) as_image(c);
  layer["type"] = "depthwise_conv2d";
  layer["depth_multiplier"] = c.kernel.shape()[0] / c.channels;
  c.window.put_into(layer, true, padding);
  Value value = c.site.add("", std::move(layer), {c.input});
  c.site.fill(
      value.node, "weight",
      kernel_fill(c.kernel, channels_last(axes), 0, c.kernel.shape()[0]));
  if (c.bias != nullptr) c.site.fill(value.node, "bias", as_is(*c.bias));
  if (axes == 1)
    value =
        c.site.reshaped(value, {value.shape()[0], value.shape()[2]}, "series");
  return value;
}

// Each filter sees the channels of its own; side by side.
Value grouped(Convolution& c, const Json& layer) {
  const std::int64_t in = c.channels / c.groups,
                     out = c.kernel.shape()[0] / c.groups;
  std::vector<Value> parts;
  for (std::int64_t g = 0; g < c.groups; ++g) {
    const std::string part = "group" + std::to_string(g);
    Value value = c.input;
    if (c.groups > 1)
      value = c.site.add(
          part + ".in",
          {{"type", "subset"}, {"begin", g * in}, {"end", (g + 1) * in}},
          {value});
    value = c.site.add(c.groups > 1 ? part : "", layer, {value});
    c.site.fill(
        value.node, "weight",
        kernel_fill(c.kernel, channels_last(c.window.axes()), g * out, out));
    if (c.bias != nullptr) {
      const Constant bias = *c.bias;
      c.site.fill(value.node, "bias", [=](std::span<float> to) {
        for (std::size_t i = 0; i < to.size(); ++i)
          to[i] = static_cast<float>(
              bias.at(static_cast<std::size_t>(g * out) + i));
      });
    }
    parts.push_back(value);
  }
  return parts.size() == 1 ? parts[0]
                           : c.site.add("", {{"type", "merge"}}, parts);
}

void conv(Site& site) {
  Convolution c = convolution_of(site);
  const std::size_t axes = c.window.axes();
  const std::int64_t filters = c.kernel.shape()[0];
  if (c.kernel.shape()[1] * c.groups != c.channels ||
      (c.bias != nullptr && c.bias->elements() != filters))
    site.refuse("its kernel is for " +
                std::to_string(c.kernel.shape()[1] * c.groups) +
                " channels, its input has " + std::to_string(c.channels));
  const bool by_channel = c.groups > 1 && c.groups == c.channels && axes < 3;
  if (c.groups > 1024 && !by_channel)
    site.refuse("it has more than 1024 groups");
  const char* padding = pad(c);
  Json layer{{"bias", c.bias != nullptr}};
  Json activation;
  if (by_channel || c.groups == 1) {
    activation = take_activation(site, axes + 2, 1);
    if (!activation.is_null()) layer["activation"] = activation;
  }
  Flow made = c.input;
  if (by_channel) {
    static_cast<Value&>(made) = depthwise(c, std::move(layer), padding);
  } else {
    layer["type"] = "conv" + std::to_string(axes) + "d";
    layer["filters"] = filters / c.groups;
    c.window.put_into(layer, true, padding);
    static_cast<Value&>(made) = grouped(c, layer);
  }
  made.positive = is_positive(activation);
  site.give(std::move(made));
}

// The part of a kernel [channels, filters, ...] for `in` channels from `begin`
// on.
Fill transposed_fill(const Constant& kernel, std::int64_t begin,
                     std::int64_t in) {
  const Sizes& shape = kernel.shape();
  const std::int64_t filters = shape[1],
                     points = kernel.elements() / (shape[0] * filters);
  return [=](std::span<float> to) {  // [filters, ..., channels]
    std::size_t i = 0;
    for (std::int64_t f = 0; f < filters; ++f)
      for (std::int64_t p = 0; p < points; ++p)
        for (std::int64_t c = 0; c < in; ++c)
          to[i++] = static_cast<float>(kernel.at(static_cast<std::size_t>(
              ((begin + c) * filters + f) * points + p)));
  };
}

// The part of the channels that a group of a transposed convolution reads.
Value transposed_group(Convolution& c, const std::string& part, Json layer,
                       std::int64_t group) {
  const std::int64_t in = c.channels / c.groups, out = c.kernel.shape()[1];
  Value value = c.input;
  if (c.groups > 1)
    value = c.site.add(
        part + ".in",
        {{"type", "subset"}, {"begin", group * in}, {"end", (group + 1) * in}},
        {value});
  value = c.site.add(part, std::move(layer), {value});
  c.site.fill(value.node, "weight", transposed_fill(c.kernel, group * in, in));
  if (c.bias != nullptr)
    c.site.fill(value.node, "bias",
                [bias = *c.bias, first = group * out](std::span<float> to) {
                  for (std::size_t i = 0; i < to.size(); ++i)
                    to[i] = static_cast<float>(
                        bias.at(static_cast<std::size_t>(first) + i));
                });
  return value;
}

// Crops the output by the pads; what output_padding adds is left in.
void transposed(Site& site) {
  Convolution c = convolution_of(site);
  const std::size_t axes = c.window.axes();
  if (axes > 2)
    site.refuse(
        "it is over a volume; a transposed convolution of images would be "
        "needed");
  if (c.groups > 1024) site.refuse("it has more than 1024 groups");
  if (c.kernel.shape()[0] != c.channels)
    site.refuse("its kernel is for " + std::to_string(c.kernel.shape()[0]) +
                " channels, its input has " + std::to_string(c.channels));
  const std::int64_t filters = c.kernel.shape()[1];
  if (c.bias != nullptr && c.bias->elements() != filters * c.groups)
    site.refuse("its bias is not one number for each filter");
  Window& w = c.window;
  const Sizes more = site.node().integers("output_padding", Sizes(axes, 0));
  if (more.size() != axes)
    site.refuse("its output_padding is not one for each axis");
  Sizes begin, end;
  bool beyond = false;
  for (std::size_t k = 0; k < axes; ++k) {
    begin.push_back(-w.begin[k]);
    end.push_back(more[k] - w.end[k]);
    beyond = beyond || end.back() > 0;
  }
  // Where no window reaches, there is the bias alone.
  const Constant* behind = beyond ? std::exchange(c.bias, nullptr) : nullptr;
  if (axes == 1) as_image(c);
  Json layer{{"type", "conv2d_transpose"},
             {"filters", filters},
             {"bias", c.bias != nullptr}};
  w.put_into(layer, true, "valid");
  std::vector<Value> parts;
  parts.reserve(static_cast<std::size_t>(c.groups));
  for (std::int64_t g = 0; g < c.groups; ++g)
    parts.push_back(transposed_group(
        c, c.groups > 1 ? "group" + std::to_string(g) : "", layer, g));
  Value value =
      parts.size() == 1 ? parts[0] : site.add("", {{"type", "merge"}}, parts);
  if (axes == 1)
    value =
        site.reshaped(value, {value.shape()[0], value.shape()[2]}, "series");
  Flow made = c.input;
  static_cast<Value&>(made) = zero_padded(site, value, begin, end);
  made.positive = false;
  if (behind != nullptr) made = scaled_by(site, made, 1, nullptr, behind, true);
  site.give(std::move(made));
}

}  // namespace

std::vector<Operator> convolution_operators() {
  return {{"Conv", conv}, {"ConvTranspose", transposed}};
}

}  // namespace dl::convert::onnx
