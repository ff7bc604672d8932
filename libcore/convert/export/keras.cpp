#include "libcore/convert/export/keras.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/convert/export/keras_layer.h"
#include "libcore/convert/export/keras_model.h"
#include "libcore/nn/layer_type.h"

namespace dl::convert {
namespace {

class Writer {
 public:
  Writer(const nn::Model& model, KerasFormat format)
      : model_(model),
        format_(format),
        config_(model.config),
        layout_(nn::layout_of(model.config)) {}

  std::string write() {
    for (std::size_t i = 0; i < config_.inputs.size(); ++i) add_input(i);
    for (std::size_t i = 0; i < config_.layers.size(); ++i) add_layer(i);
    std::vector<std::string> outputs;
    outputs.reserve(config_.outputs.size());
    for (std::size_t i = 0; i < config_.outputs.size(); ++i)
      outputs.push_back(add_output(i));
    const std::vector<KerasNode> nodes = in_keras_order(nodes_, outputs);
    return format_ == KerasFormat::kHdf5
               ? keras_hdf5(nodes, inputs_, outputs)
               : keras_archive(nodes, inputs_, outputs);
  }

 private:
  void add_input(std::size_t i);
  void add_layer(std::size_t i);
  std::string add_output(std::size_t i);
  bool has_mask(std::size_t i, const std::vector<KerasValue>& inputs) const;

  const nn::Model& model_;
  const KerasFormat format_;
  const nn::NetworkConfig& config_;
  nn::Layout layout_;
  std::vector<KerasNode> nodes_;
  std::vector<std::string> inputs_;
  std::vector<KerasValue> values_;  // as nn::Value counts them
};

void Writer::add_input(std::size_t i) {
  const nn::Form& form = layout_.inputs[i];
  const data::Normalizer n = model_.normalizers.input(i);
  const std::string name =
      config_.inputs[i].name.empty() ? "features" : config_.inputs[i].name;
  const auto& schema = model_.data.schema;
  if (form.steps &&
      (schema.contains("features_mask") ||
       schema.contains("features_mask/" + config_.inputs[i].name)))
    throw Error{Code::kData,
                "input '" + name +
                    "': its data have a mask, which is not written for Keras "
                    "yet; ONNX has it"};
  KerasValue value{name,
                   keras_shape(n.mixes() ? n.stored(form.shape) : form.shape),
                   form.tokens ? "int32" : "float32"};
  const char* const key =
      format_ == KerasFormat::kHdf5 ? "batch_input_shape" : "batch_shape";
  nodes_.push_back(
      {"InputLayer",
       name,
       {{"name", name}, {key, value.shape}, {"dtype", value.dtype}},
       {}});
  inputs_.push_back(name);
  const auto follow = [&](const std::string& type, const char* suffix,
                          Json settings, const Json& shape,
                          KerasLayer::Weights weights) {
    settings["name"] = name + suffix;
    nodes_.push_back(
        {type, name + suffix, settings, {value}, std::move(weights)});
    value = {name + suffix, shape};
  };
  if (!form.tokens && (n.mixes() || !n.changes_nothing())) {
    std::vector<double> variance;
    variance.reserve(n.scale.size());
    for (const double scale : n.scale) variance.push_back(1 / scale / scale);
    const bool one = n.shift.size() == 1;
    follow("Normalization", "_normalized",
           {{"axis", one ? Json() : Json(-1)},
            {"mean", one ? Json(n.shift[0]) : Json(n.shift)},
            {"variance", one ? Json(variance[0]) : Json(variance)}},
           value.shape, {});
  }
  if (n.mixes()) {
    const std::int64_t in = n.columns(), out = n.outputs();
    KerasTensor kernel{{in, out}, std::vector<float>(n.matrix.size())};
    for (std::int64_t to = 0; to < out; ++to)
      for (std::int64_t from = 0; from < in; ++from)
        kernel.values[static_cast<std::size_t>(from * out + to)] =
            static_cast<float>(
                n.matrix[static_cast<std::size_t>(to * in + from)]);
    follow("Dense", "_mixed", {{"units", out}, {"use_bias", false}},
           keras_shape(form.shape), {{"vars/0", kernel}});
  }
  values_.push_back(value);
}

// Whether Keras has a mask with what layer i gives.
bool Writer::has_mask(std::size_t i,
                      const std::vector<KerasValue>& inputs) const {
  if (!layout_.layers[i].mask) return false;
  const nn::LayerConfig& config = config_.layers[i];
  if (config.type->name == "masking") return true;
  if (config.type->name == "embedding" && config.settings.flag("mask_zero"))
    return true;
  return std::ranges::any_of(inputs, &KerasValue::masked);
}

void Writer::add_layer(std::size_t i) {
  const nn::LayerConfig& config = config_.layers[i];
  std::vector<KerasValue> inputs;
  inputs.reserve(config.from.size());
  for (const nn::Value v : config.from) inputs.push_back(values_[v]);
  KerasLayer layer(model_, layout_, i, format_, inputs);
  const KerasRule* const rule = keras_rule(config.type->name);
  if (rule == nullptr)
    layer.refuse(why_not_in_keras(config.type->name) + "; ONNX can say it");
  if (layer.masked() && !rule->takes_masks)
    layer.refuse("its input has padding, which Keras's layer would count");
  const nn::Value from = config.from[0];
  if (config.type->name == "masking" && from < config_.inputs.size() &&
      !model_.normalizers.input(from).changes_nothing())
    layer.refuse("it looks at what is normalized before it in Keras");
  rule->write(layer);
  if (layer.nodes.empty()) {
    values_.push_back(values_[from]);
    return;
  }
  for (KerasNode& node : layer.nodes) nodes_.push_back(std::move(node));
  values_.push_back({config.name, keras_shape(layout_.layers[i].output.shape),
                     "float32", has_mask(i, inputs)});
}

// The name of the layer that gives it, in the units of the labels.
std::string Writer::add_output(std::size_t i) {
  const KerasValue& value = values_[config_.value_of(config_.outputs[i])];
  const data::Normalizer n = model_.normalizers.output(i);
  if (n.changes_nothing()) return value.layer;
  std::vector<double> scale;
  scale.reserve(n.scale.size());
  for (const double one : n.scale) scale.push_back(1 / one);
  const bool one = scale.size() == 1;
  const std::string name = value.layer + "_in_units";
  nodes_.push_back({"Rescaling",
                    name,
                    {{"name", name},
                     {"scale", one ? Json(scale[0]) : Json(scale)},
                     {"offset", one ? Json(n.shift[0]) : Json(n.shift)}},
                    {value}});
  return name;
}

}  // namespace

std::string to_keras(const nn::Model& model, KerasFormat format) {
  return Writer(model, format).write();
}

}  // namespace dl::convert
