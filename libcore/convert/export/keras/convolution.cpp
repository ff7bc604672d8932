// Convolutions and pools; kernels of Keras are [window..., channels, filters].

#include <algorithm>

#include "libcore/convert/export/keras/layer.h"

namespace dl::convert {
namespace {

using Weights = KerasLayer::Weights;

bool above_1(const KerasLayer& l, const char* key) {
  return std::ranges::any_of(l.settings.integers(key),
                             [](std::int64_t each) { return each > 1; });
}

// Keys that all convolutions share.
Json window_of(const KerasLayer& l) {
  if (above_1(l, "stride") && above_1(l, "dilation"))
    l.refuse("Keras has no convolution with both a stride and a dilation");
  return {{"kernel_size", l.settings.integers("kernel")},
          {"strides", l.settings.integers("stride")},
          {"dilation_rate", l.settings.integers("dilation")},
          {"padding", l.settings.text("padding")},
          {"use_bias", l.settings.flag("bias")}};
}

void add_bias(const KerasLayer& l, Weights& weights) {
  const std::string at = "vars/" + std::to_string(weights.size());
  if (l.settings.flag("bias"))
    weights.emplace_back(at, l.weight(weights.size()));
}

// [filters, window..., channels] with the filters last.
std::vector<std::int64_t> filters_last(int axes) {
  std::vector<std::int64_t> order;
  for (int k = 1; k <= axes + 1; ++k) order.push_back(k);
  order.push_back(0);
  return order;
}

void conv(KerasLayer& l) {
  Json config = window_of(l);
  config["filters"] = l.settings.integer("filters");
  Weights weights{
      {"vars/0", l.weight(0, filters_last(l.input().shape.rank() - 1))}};
  add_bias(l, weights);
  l.activated(by_axes(l, "Conv"), std::move(config), std::move(weights));
}

void refuse_uneven(const KerasLayer& l) {
  const auto stride = l.settings.integers("stride");
  if (stride[0] != stride[1])
    l.refuse("Keras has no such convolution with strides that differ");
}

// [channels multiplier, height, width, 1] as [height, width, channels,
// multiplier].
KerasTensor by_channel(const KerasLayer& l) {
  KerasTensor kernel = l.weight(0, {1, 2, 0, 3});
  kernel.shape = {kernel.shape[0], kernel.shape[1], l.input().shape.back(),
                  l.settings.integer("depth_multiplier")};
  return kernel;
}

void depthwise(KerasLayer& l) {
  refuse_uneven(l);
  Json config = window_of(l);
  config["depth_multiplier"] = l.settings.integer("depth_multiplier");
  Weights weights{{"vars/0", by_channel(l)}};
  add_bias(l, weights);
  l.activated("DepthwiseConv2D", std::move(config), std::move(weights));
}

void separable(KerasLayer& l) {
  refuse_uneven(l);
  Json config = window_of(l);
  config["depth_multiplier"] = l.settings.integer("depth_multiplier");
  config["filters"] = l.settings.integer("filters");
  Weights weights{{"vars/0", by_channel(l)},
                  {"vars/1", l.weight(1, filters_last(2))}};
  add_bias(l, weights);
  l.activated("SeparableConv2D", std::move(config), std::move(weights));
}

void transposed(KerasLayer& l) {
  Json config = window_of(l);
  const auto kernel = l.settings.integers("kernel"),
             stride = l.settings.integers("stride");
  for (std::size_t k = 0; k < kernel.size(); ++k)
    if (stride[k] > kernel[k])
      l.refuse(
          "Keras gives more than it where the stride is larger than the "
          "window");
  config["filters"] = l.settings.integer("filters");
  Weights weights{{"vars/0", l.weight(0, {1, 2, 0, 3})}};
  add_bias(l, weights);
  l.activated("Conv2DTranspose", std::move(config), std::move(weights));
}

void pool(KerasLayer& l, const char* type) {
  if (l.is_on("count_padding") && l.settings.text("padding") == "same")
    l.refuse("\"count_padding\": Keras never counts padding");
  l.last(by_axes(l, type), {{"pool_size", l.settings.integers("kernel")},
                            {"strides", l.settings.integers("stride")},
                            {"padding", l.settings.text("padding")}});
}
void max_pool(KerasLayer& l) { pool(l, "MaxPooling"); }
void average_pool(KerasLayer& l) { pool(l, "AveragePooling"); }

// Masks there hold for the mean of a sequence alone.
void global_pool(KerasLayer& l) {
  const std::string kind = l.settings.text("kind");
  if (kind != "max" && kind != "average")
    l.refuse("\"kind\": Keras has no pool of the kind \"" + kind + "\"");
  if (kind == "max" && l.masked()) return masked_max(l);
  l.last(
      by_axes(l, kind == "max" ? "GlobalMaxPooling" : "GlobalAveragePooling"),
      Json::object());
}

}  // namespace

std::span<const KerasRule> keras_convolution() {
  static constexpr KerasRule kRules[] = {{"conv1d", conv},
                                         {"conv2d", conv},
                                         {"conv3d", conv},
                                         {"depthwise_conv2d", depthwise},
                                         {"separable_conv2d", separable},
                                         {"conv2d_transpose", transposed},
                                         {"max_pool1d", max_pool},
                                         {"max_pool2d", max_pool},
                                         {"max_pool3d", max_pool},
                                         {"average_pool1d", average_pool},
                                         {"average_pool2d", average_pool},
                                         {"average_pool3d", average_pool},
                                         {"global_pool", global_pool, true}};
  return kRules;
}

}  // namespace dl::convert
