// Export of a model as a Keras model, layer by layer.

#include "libcore/convert/export/keras/keras.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/convert/export/input_mask.h"
#include "libcore/convert/export/keras/layer.h"
#include "libcore/convert/export/keras/model.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/data/targets.h"

namespace dl::convert {
namespace {

// Remedy if padding is refused where there is none.
constexpr char kNever[] = "; --masks never takes all steps for ones that count";

// Numbers by column of the data, for values of that shape.  Where their columns
// are others, as where the data were flat rows and the network has images, they
// become one for each number: true.
bool spread(const tensor::Shape& shape, std::vector<double>& a,
            std::vector<double>& b) {
  const auto columns = static_cast<std::int64_t>(a.size());
  if (columns == 1 || columns == shape.back()) return false;
  require(shape.elements() % columns == 0,
          "a normalizer of other columns than the network's");
  for (auto* all : {&a, &b}) {
    all->resize(static_cast<std::size_t>(shape.elements()));
    for (std::size_t k = static_cast<std::size_t>(columns); k < all->size();
         ++k)
      (*all)[k] = (*all)[k - static_cast<std::size_t>(columns)];
  }
  return true;
}

class KerasWriter {
 public:
  KerasWriter(const nn::Model& model, KerasFormat format,
              std::optional<bool> masks)
      : model_(model),
        format_(format),
        masks_(masks),
        config_(model.config),
        layout_(nn::layout_of(model.config)),
        normalizers_(model.normalizers) {
    nn::aim_normalizers(config_, normalizers_);
  }

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
  bool gives_mask(std::size_t i, const std::vector<KerasValue>& inputs) const;
  std::string free_name(std::string wanted) const;
  void follow(KerasValue& value, const std::string& type,
              const std::string& name, Json settings, const Json& shape,
              KerasLayer::Weights weights = {});
  void mark_padding(std::size_t i, KerasValue& value);
  void normalize(std::size_t i, KerasValue& value);
  void to_row(KerasValue& value, const std::string& name,
              const tensor::Shape& shape);
  void from_row(KerasValue& value, const std::string& name,
                const tensor::Shape& shape);

  const nn::Model& model_;
  const KerasFormat format_;
  const std::optional<bool> masks_;
  const nn::NetworkConfig& config_;
  nn::Layout layout_;
  data::Normalizers normalizers_;  // also of outputs that are to be an input
  bool padded_ = false;            // some input has padding
  std::vector<KerasNode> nodes_;
  std::vector<std::string> inputs_;
  std::vector<KerasValue> values_;  // as nn::Value counts them
};

// One that no layer has.
std::string KerasWriter::free_name(std::string wanted) const {
  while (std::ranges::any_of(config_.layers, [&](const nn::LayerConfig& layer) {
    return layer.name == wanted;
  }))
    wanted += "_";
  return wanted;
}

// Another layer behind the value, which gives that shape.
void KerasWriter::follow(KerasValue& value, const std::string& type,
                         const std::string& name, Json settings,
                         const Json& shape, KerasLayer::Weights weights) {
  settings["name"] = name;
  nodes_.push_back(
      {type, name, std::move(settings), {value}, std::move(weights)});
  value = {name, shape, "float32", value.masked};
}

void KerasWriter::add_input(std::size_t i) {
  const nn::ValueSpec& form = layout_.inputs[i];
  const data::Normalizer n = normalizers_.input(i);
  const std::string name = free_name(
      config_.inputs[i].name.empty() ? "features" : config_.inputs[i].name);
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
  if (has_mask(model_, layout_, i, masks_)) mark_padding(i, value);
  if (!form.tokens && (n.mixes() || !n.changes_nothing())) normalize(i, value);
  values_.push_back(value);
}

// Data have zeros where steps are padding, which Keras can look for.
void KerasWriter::mark_padding(std::size_t i, KerasValue& value) {
  const auto refuse = [&](const std::string& why) {
    throw Error{Code::kData, "input '" + value.layer +
                                 "': its data have padding, " + why + kNever};
  };
  padded_ = true;
  if (layout_.inputs[i].tokens) {
    for (const nn::LayerConfig& layer : config_.layers)
      if (layer.type->name == "embedding" && layer.from[0] == i &&
          !layer.settings.flag("mask_zero"))
        refuse("which Keras knows by the token 0 alone: give '" + layer.name +
               "' mask_zero where 0 is no other token, or take ONNX");
    return;
  }
  if (format_ == KerasFormat::kHdf5 && !normalizers_.input(i).changes_nothing())
    refuse(
        "which Keras 2 does not keep behind a normalizer; a .keras file can "
        "say it");
  if (normalizers_.input(i).mixes())
    refuse("whose zeros pca and whiten make other numbers of; ONNX can say it");
  follow(value, "Masking", free_name(value.layer + "_padding"),
         {{"mask_value", 0.0}}, value.shape);
  value.masked = true;
}

// All numbers of that shape as a row, and back.
void KerasWriter::to_row(KerasValue& value, const std::string& name,
                         const tensor::Shape& shape) {
  follow(value, "Reshape", free_name(name),
         {{"target_shape", {shape.elements()}}},
         keras_shape({shape.elements()}));
}

void KerasWriter::from_row(KerasValue& value, const std::string& name,
                           const tensor::Shape& shape) {
  const auto extents = shape.extents();
  follow(value, "Reshape", free_name(name),
         {{"target_shape",
           std::vector<std::int64_t>(extents.begin(), extents.end())}},
         keras_shape(shape));
}

// (x - mean) / deviation, and sums of columns.
void KerasWriter::normalize(std::size_t i, KerasValue& value) {
  const tensor::Shape& shape = layout_.inputs[i].shape;
  const data::Normalizer n = normalizers_.input(i);
  const std::string& name = inputs_[i];
  std::vector<double> mean = n.shift, variance;
  for (const double scale : n.scale) variance.push_back(1 / scale / scale);
  const bool one = mean.size() == 1;
  const bool flat = !n.mixes() && spread(shape, mean, variance);
  if (flat) to_row(value, name + "_row", shape);
  follow(value, "Normalization", free_name(name + "_normalized"),
         {{"axis", one ? Json() : Json(-1)},
          {"mean", one ? Json(mean[0]) : Json(mean)},
          {"variance", one ? Json(variance[0]) : Json(variance)}},
         value.shape);
  if (flat) from_row(value, name + "_again", shape);
  if (!n.mixes()) return;
  const std::int64_t in = n.columns(), out = n.outputs();
  KerasTensor kernel{{in, out}, std::vector<float>(n.matrix.size())};
  for (std::int64_t to = 0; to < out; ++to)
    for (std::int64_t from = 0; from < in; ++from)
      kernel.values[static_cast<std::size_t>(from * out + to)] =
          static_cast<float>(
              n.matrix[static_cast<std::size_t>(to * in + from)]);
  follow(value, "Dense", free_name(name + "_mixed"),
         {{"units", out}, {"use_bias", false}}, keras_shape(shape),
         {{"vars/0", kernel}});
}

// Whether Keras has a mask with what layer i gives.
bool KerasWriter::gives_mask(std::size_t i,
                             const std::vector<KerasValue>& inputs) const {
  if (!layout_.layers[i].mask) return false;
  const nn::LayerConfig& config = config_.layers[i];
  if (config.type->name == "masking") return true;
  if (config.type->name == "embedding" && config.settings.flag("mask_zero"))
    return true;
  return std::ranges::any_of(inputs, &KerasValue::masked);
}

void KerasWriter::add_layer(std::size_t i) {
  const nn::LayerConfig& config = config_.layers[i];
  std::vector<KerasValue> inputs;
  inputs.reserve(config.from.size());
  for (const nn::Value v : config.from) inputs.push_back(values_[v]);
  KerasLayer layer(model_, layout_, i, format_, inputs);
  const KerasRule* const rule = keras_rule(config.type->name);
  if (rule == nullptr)
    layer.refuse(why_not_in_keras(config.type->name) + "; ONNX can say it");
  if (layer.masked() && !rule->takes_masks)
    layer.refuse("its input has padding, which Keras's layer would count" +
                 std::string(padded_ ? kNever : ""));
  const nn::Value from = config.from[0];
  if (config.type->name == "masking" && from < config_.inputs.size() &&
      !normalizers_.input(from).changes_nothing())
    layer.refuse("it looks at what is normalized before it in Keras");
  rule->write(layer);
  if (layer.nodes.empty()) {
    values_.push_back(values_[from]);
    return;
  }
  for (KerasNode& node : layer.nodes) nodes_.push_back(std::move(node));
  values_.push_back({config.name, keras_shape(layout_.layers[i].output.shape),
                     "float32", gives_mask(i, inputs)});
}

// The name of the layer that gives it, in the units of the labels.
std::string KerasWriter::add_output(std::size_t i) {
  KerasValue value = values_[config_.value_of(config_.outputs[i])];
  const data::Normalizer n = normalizers_.output(i);
  if (n.changes_nothing()) return value.layer;
  const tensor::Shape& shape = layout_.layers[config_.outputs[i]].output.shape;
  const std::string name = value.layer;
  std::vector<double> scale, offset = n.shift;
  scale.reserve(n.scale.size());
  for (const double one : n.scale) scale.push_back(1 / one);
  const bool flat = spread(shape, scale, offset) && shape.rank() > 1;
  if (flat) to_row(value, name + "_row", shape);
  const bool one = scale.size() == 1;
  follow(value, "Rescaling", free_name(name + "_in_units"),
         {{"scale", one ? Json(scale[0]) : Json(scale)},
          {"offset", one ? Json(offset[0]) : Json(offset)}},
         value.shape);
  if (flat) from_row(value, name + "_again", shape);
  return value.layer;
}

}  // namespace

std::string to_keras(const nn::Model& model, KerasFormat format,
                     std::optional<bool> masks) {
  return KerasWriter(model, format, masks).write();
}

}  // namespace dl::convert
