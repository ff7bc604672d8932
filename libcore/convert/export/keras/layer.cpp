// Common parts of the exporters of layers to Keras.

#include "libcore/convert/export/keras/layer.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/nn/config/layer_type.h"

namespace dl::convert {

Json keras_shape(const tensor::Shape& shape) {
  Json json = Json::array({nullptr});
  for (const std::int64_t extent : shape.extents()) json.push_back(extent);
  return json;
}

Json keras_object(const std::string& type, const Json& config) {
  return {{"module", "keras.layers"},
          {"class_name", type},
          {"config", config},
          {"registered_name", nullptr}};
}

KerasLayer::KerasLayer(const nn::Model& model, const nn::Layout& all,
                       std::size_t index, KerasFormat to,
                       std::vector<KerasValue> inputs)
    : config(model.config.layers[index]),
      settings(config.settings),
      layout(all.layers[index]),
      format(to),
      model_(model),
      all_(all),
      inputs_(std::move(inputs)) {}

tensor::Shape KerasLayer::output() const {
  return layout.each_of > 0 ? layout.output.shape.without_first()
                            : layout.output.shape;
}

bool KerasLayer::masked() const {
  return std::ranges::any_of(inputs_, &KerasValue::masked);
}

const nn::LayerConfig* KerasLayer::before() const {
  const std::size_t inputs = model_.config.inputs.size();
  return config.from[0] < inputs
             ? nullptr
             : &model_.config.layers[config.from[0] - inputs];
}

bool KerasLayer::is_read_by(std::string_view type) const {
  const auto& layers = model_.config.layers;
  const nn::Value own =
      model_.config.value_of(static_cast<std::size_t>(&config - layers.data()));
  bool read = false;
  for (const nn::LayerConfig& other : layers)
    for (const nn::Value from : other.from)
      if (from == own) {
        if (other.type->name != type) return false;
        read = true;
      }
  return read;
}

std::string KerasLayer::free_name(std::string wanted) const {
  while (std::ranges::any_of(
      model_.config.layers,
      [&](const nn::LayerConfig& other) { return other.name == wanted; }))
    wanted += "_";
  return wanted;
}

void KerasLayer::add(const std::string& type, Json settings_of_it,
                     const tensor::Shape& shape, Weights weights) {
  // The Rescaling of Keras 2 lets no mask through.
  if (type == "Rescaling" && masked() && format == KerasFormat::kHdf5)
    refuse(
        "its input has padding, which Keras 2 would count; a .keras file can "
        "say it");
  if (!nodes.empty()) {
    KerasNode& before = nodes.back();
    before.name = free_name(config.name + "_" + std::to_string(nodes.size()));
    before.config["name"] = before.name;
    inputs_[0].layer = before.name;
    inputs_.resize(1);
  }
  if (config.training.frozen && !weights.empty())
    settings_of_it["trainable"] = false;
  if (!weights.empty()) add_training(type, settings_of_it);
  KerasNode node{type, config.name, std::move(settings_of_it), inputs_,
                 std::move(weights)};
  Json given = keras_shape(shape);
  if (layout.each_of > 0) {
    node.type = "TimeDistributed";
    node.config["name"] = config.name + "_each";
    node.config = {{"layer", keras_object(type, node.config)}};
    for (auto& weight : node.weights) weight.first.insert(0, "layer/");
    given.insert(given.begin() + 1, layout.each_of);
  }
  node.config["name"] = config.name;
  nodes.push_back(std::move(node));
  inputs_[0].shape = std::move(given);
  inputs_[0].layer = config.name;
  inputs_[0].dtype = "float32";
}

KerasValue KerasLayer::beside(const std::string& type, const std::string& part,
                              Json settings_of_it,
                              std::vector<KerasValue> inputs,
                              const tensor::Shape& shape, Weights weights) {
  const std::string name =
      part.empty() ? config.name : free_name(config.name + "_" + part);
  settings_of_it["name"] = name;
  nodes.push_back({type, name, std::move(settings_of_it), std::move(inputs),
                   std::move(weights)});
  return {name, keras_shape(shape)};
}

void KerasLayer::last(const std::string& type, Json settings_of_it,
                      Weights weights) {
  add(type, std::move(settings_of_it), output(), std::move(weights));
}

void KerasLayer::last_of_same(const std::string& type, std::size_t times) {
  add(type, Json::object(), output());
  nodes.back().inputs.resize(times, nodes.back().inputs[0]);
}

KerasTensor KerasLayer::weight(std::size_t i,
                               const std::vector<std::int64_t>& order) const {
  const bool tied = layout.tied.has_value();
  const std::size_t at =
      tied && i == 0 ? *layout.tied : layout.parameters_begin + i - tied;
  const nn::Segment& s = all_.parameters[at];
  const auto values =
      model_.weights().subspan(static_cast<std::size_t>(s.offset),
                               static_cast<std::size_t>(s.elements()));
  const auto own = s.shape.extents();
  if (order.empty())
    return {{own.begin(), own.end()}, {values.begin(), values.end()}};
  const std::size_t rank = order.size();
  std::vector<std::int64_t> strides(rank), at_axis(rank, 0);
  std::int64_t stride = 1;
  for (std::size_t k = rank; k-- > 0; stride *= own[k]) strides[k] = stride;
  KerasTensor turned;
  for (const std::int64_t axis : order)
    turned.shape.push_back(own[static_cast<std::size_t>(axis)]);
  turned.values.reserve(values.size());
  for (std::size_t n = 0; n < values.size(); ++n) {
    std::int64_t place = 0;
    for (std::size_t k = 0; k < rank; ++k)
      place += at_axis[k] * strides[static_cast<std::size_t>(order[k])];
    turned.values.push_back(values[static_cast<std::size_t>(place)]);
    for (std::size_t k = rank; k-- > 0;) {
      if (++at_axis[k] < turned.shape[k]) break;
      at_axis[k] = 0;
    }
  }
  return turned;
}

KerasTensor KerasLayer::statistic(std::size_t i) const {
  const nn::Segment& s = all_.statistics[layout.statistics_begin + i];
  const auto values = std::span(model_.statistics)
                          .subspan(static_cast<std::size_t>(s.offset),
                                   static_cast<std::size_t>(s.elements()));
  return {{s.elements()}, {values.begin(), values.end()}};
}

void KerasLayer::refuse(const std::string& what) const {
  throw Error{Code::kData, "layer '" + config.name + "' (" +
                               std::string(config.type->name) + "): " + what};
}

}  // namespace dl::convert
