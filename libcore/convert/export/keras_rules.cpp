// How types of layers are said in Keras; channels are last in both.

#include <algorithm>

#include "libcore/convert/export/keras_layer.h"
#include "libcore/nn/layers/gaussian_output.h"
#include "libcore/nn/layers/recurrent.h"

namespace dl::convert {
namespace {

using nn::Bidirectional;
using Weights = KerasLayer::Weights;

void dense(KerasLayer& l) {
  if (l.config.type->output != nullptr && nn::layers::is_gaussian(l.settings))
    l.refuse(
        "a loss \"gaussian\" has variances beside the outputs, which a "
        "layer of Keras has not");
  const tensor::Shape& in = l.input().shape;
  const std::int64_t steps = l.input().steps ? in[0] : 1;
  if (!l.input().steps && in.rank() > 1)
    l.add("Flatten", {}, {in.elements()});
  else if (in.rank() > 2)
    l.add("Reshape", {{"target_shape", {steps, in.elements() / steps}}},
          {steps, in.elements() / steps});
  const bool bias = l.settings.flag("bias");
  Weights weights{
      {"vars/0", l.config.tied_to ? l.weight(0) : l.weight(0, {1, 0})}};
  if (bias) weights.emplace_back("vars/1", l.weight(1));
  l.last("Dense",
         {{"units", l.settings.integer("units")},
          {"use_bias", bias},
          {"activation", l.activation()}},
         weights);
}

// Windows of 1, 2 or 3 axes: "Conv" becomes "Conv2D".
std::string by_axes(const KerasLayer& l, const std::string& type) {
  return type + std::to_string(l.input().shape.rank() - 1) + "D";
}

void conv(KerasLayer& l) {
  const auto above_1 = [&](const char* key) {
    return std::ranges::any_of(l.settings.integers(key),
                               [](std::int64_t each) { return each > 1; });
  };
  if (above_1("stride") && above_1("dilation"))
    l.refuse("Keras has no convolution with both a stride and a dilation");
  const bool bias = l.settings.flag("bias");
  const int axes = l.input().shape.rank() - 1;
  std::vector<std::int64_t> order;
  for (int k = 1; k <= axes + 1; ++k) order.push_back(k);
  order.push_back(0);
  Weights weights{{"vars/0", l.weight(0, order)}};
  if (bias) weights.emplace_back("vars/1", l.weight(1));
  l.last(by_axes(l, "Conv"),
         {{"filters", l.settings.integer("filters")},
          {"kernel_size", l.settings.integers("kernel")},
          {"strides", l.settings.integers("stride")},
          {"dilation_rate", l.settings.integers("dilation")},
          {"padding", l.settings.text("padding")},
          {"use_bias", bias},
          {"activation", l.activation()}},
         weights);
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

void global_pool(KerasLayer& l) {
  const std::string kind = l.settings.text("kind");
  if (kind != "max" && kind != "average")
    l.refuse("\"kind\": \"" + kind + "\" has no counterpart in Keras");
  l.last(
      by_axes(l, kind == "max" ? "GlobalMaxPooling" : "GlobalAveragePooling"),
      {});
}

void batch_norm(KerasLayer& l) {
  l.last("BatchNormalization",
         {{"axis", -1},
          {"momentum", l.settings.number("decay")},
          {"epsilon", l.settings.number("epsilon")}},
         {{"vars/0", l.weight(0)},
          {"vars/1", l.weight(1)},
          {"vars/2", l.statistic(0)},
          {"vars/3", l.statistic(1)}});
}

void layer_norm(KerasLayer& l) {
  l.last("LayerNormalization",
         {{"axis", -1}, {"epsilon", l.settings.number("epsilon")}},
         {{"vars/0", l.weight(0)}, {"vars/1", l.weight(1)}});
}

void dropout(KerasLayer& l) {
  l.last("Dropout", {{"rate", l.settings.number("rate")}});
}
void activation(KerasLayer& l) {
  l.last("Activation", {{"activation", l.activation()}});
}
void flatten(KerasLayer& l) { l.last("Flatten", Json::object()); }
void reshape(KerasLayer& l) {
  l.last("Reshape", {{"target_shape", l.settings.at("shape")}});
}
void permute(KerasLayer& l) {
  Json dims = Json::array();
  for (const Json& axis : l.settings.at("axes"))
    dims.push_back(axis.get<int>() + 1);
  l.last("Permute", {{"dims", dims}});
}
void repeat(KerasLayer& l) {
  l.last("RepeatVector", {{"n", l.settings.integer("n")}});
}
void scale(KerasLayer& l) {
  l.last("Rescaling",
         {{"scale", l.settings.number("factor")}, {"offset", 0.0}});
}
void shift(KerasLayer& l) {
  l.last("Rescaling",
         {{"scale", 1.0}, {"offset", l.settings.number("amount")}});
}

// [top, bottom, left, right], or [begin, end].
Json edges(const Json& all) {
  if (all.size() == 2) return all;
  return {{all[0], all[1]}, {all[2], all[3]}};
}
void zero_pad(KerasLayer& l) {
  l.last(by_axes(l, "ZeroPadding"),
         {{"padding", edges(l.settings.at("padding"))}});
}
void crop(KerasLayer& l) {
  l.last(by_axes(l, "Cropping"),
         {{"cropping", edges(l.settings.at("cropping"))}});
}
void upsample(KerasLayer& l) {
  Json config{{"size", l.settings.at("size")}};
  if (l.settings.has("interpolation"))
    config["interpolation"] = l.settings.at("interpolation");
  l.last(by_axes(l, "UpSampling"), config);
}

template <const char* const& type>
void join(KerasLayer& l) {
  l.last(type, Json::object());
}
constexpr const char* kAdd = "Add";
constexpr const char* kSubtract = "Subtract";
constexpr const char* kMultiply = "Multiply";
constexpr const char* kAverage = "Average";
constexpr const char* kMaximum = "Maximum";
constexpr const char* kMinimum = "Minimum";

void merge(KerasLayer& l) {
  const std::int64_t axis = l.settings.integer("axis");
  l.last("Concatenate", {{"axis", axis < 0 ? axis : axis + 1}});
}

void embedding(KerasLayer& l) {
  if (l.is_on("mask_zero"))
    l.refuse(
        "\"mask_zero\": layers of Keras treat steps that are padding in "
        "other ways");
  l.last("Embedding",
         {{"input_dim", l.settings.integer("rows")},
          {"output_dim", l.settings.integer("units")}},
         {{"vars/0", l.weight(0)}});
}

// Gates of both are in one order: i, f, c, o and z, r, h.
Weights cell_weights(const KerasLayer& l, std::size_t first,
                     const std::string& path, bool two_biases) {
  Weights weights{{path + "vars/0", l.weight(first, {1, 0})},
                  {path + "vars/1", l.weight(first + 1, {1, 0})}};
  if (!l.settings.flag("bias")) return weights;
  KerasTensor bias = l.weight(first + 2);
  if (two_biases) {  // z, r, n of W, and 0, 0, m of R
    const std::int64_t units = l.settings.integer("units");
    const auto whole = static_cast<std::size_t>(3 * units);
    std::vector<float> last(bias.values.begin() + 3 * units, bias.values.end());
    bias.values.resize(whole);
    bias.values.resize(whole + static_cast<std::size_t>(2 * units), 0.0F);
    bias.values.insert(bias.values.end(), last.begin(), last.end());
    bias.shape = {2, 3 * units};
  }
  weights.emplace_back(path + "vars/2", bias);
  return weights;
}

void recurrent(KerasLayer& l, const std::string& type) {
  if (l.is_on("peepholes"))
    l.refuse("\"peepholes\" have no counterpart in Keras");
  for (const char* key : {"activation", "gate_activation"})
    if (l.settings.has(key) && l.settings.text(key) == "hard_sigmoid")
      l.refuse("\"" + std::string(key) +
               "\": hard_sigmoid has a slope of 1/6 in Keras 3");
  Json config{{"units", l.settings.integer("units")},
              {"activation", l.activation()},
              {"use_bias", l.settings.flag("bias")},
              {"return_sequences", l.settings.flag("return_sequences")}};
  if (l.settings.has("gate_activation"))
    config["recurrent_activation"] = l.activation("gate_activation");
  const bool behind = type == "GRU" && !l.is_on("reset_before");
  if (type == "GRU") config["reset_after"] = behind;
  const auto merge = l.settings.one_of<Bidirectional>("bidirectional");
  if (merge == Bidirectional::kNone)
    return l.last(type, config, cell_weights(l, 0, "cell/", behind));
  static constexpr const char* kModes[] = {"", "concat", "sum", "mul", "ave"};
  Weights weights = cell_weights(l, 0, "forward_layer/cell/", behind);
  const std::size_t each = l.settings.flag("bias") ? 3 : 2;
  for (auto& weight : cell_weights(l, each, "backward_layer/cell/", behind))
    weights.push_back(std::move(weight));
  config["name"] = l.config.name + "_cell";
  l.last("Bidirectional",
         {{"merge_mode", kModes[static_cast<int>(merge)]},
          {"layer",
           {{"module", "keras.layers"},
            {"class_name", type},
            {"config", config},
            {"registered_name", nullptr}}}},
         weights);
}
void lstm(KerasLayer& l) { recurrent(l, "LSTM"); }
void gru(KerasLayer& l) { recurrent(l, "GRU"); }
void simple(KerasLayer& l) { recurrent(l, "SimpleRNN"); }

}  // namespace

std::span<const KerasRule> keras_rules() {
  static constexpr KerasRule kRules[] = {{"dense", dense},
                                         {"output", dense},
                                         {"autoencoder", dense},
                                         {"conv1d", conv},
                                         {"conv2d", conv},
                                         {"conv3d", conv},
                                         {"max_pool1d", max_pool},
                                         {"max_pool2d", max_pool},
                                         {"max_pool3d", max_pool},
                                         {"average_pool1d", average_pool},
                                         {"average_pool2d", average_pool},
                                         {"average_pool3d", average_pool},
                                         {"global_pool", global_pool},
                                         {"batch_norm", batch_norm},
                                         {"layer_norm", layer_norm},
                                         {"dropout", dropout},
                                         {"activation", activation},
                                         {"flatten", flatten},
                                         {"reshape", reshape},
                                         {"permute", permute},
                                         {"repeat", repeat},
                                         {"scale", scale},
                                         {"shift", shift},
                                         {"zero_pad1d", zero_pad},
                                         {"zero_pad2d", zero_pad},
                                         {"crop1d", crop},
                                         {"crop2d", crop},
                                         {"upsample1d", upsample},
                                         {"upsample2d", upsample},
                                         {"add", join<kAdd>},
                                         {"subtract", join<kSubtract>},
                                         {"multiply", join<kMultiply>},
                                         {"average", join<kAverage>},
                                         {"max", join<kMaximum>},
                                         {"min", join<kMinimum>},
                                         {"merge", merge},
                                         {"embedding", embedding},
                                         {"lstm", lstm},
                                         {"gru", gru},
                                         {"simple_rnn", simple}};
  return kRules;
}

}  // namespace dl::convert
