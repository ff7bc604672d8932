#include "libcore/convert/export/keras_layer.h"

#include "libcore/base/error.h"
#include "libcore/nn/layer_type.h"

namespace dl::convert {

using tensor::Activation;

Json keras_shape(const tensor::Shape& shape) {
  Json json = Json::array({nullptr});
  for (const std::int64_t extent : shape.extents()) json.push_back(extent);
  return json;
}

KerasLayer::KerasLayer(const nn::Model& model, const nn::Layout& all,
                       std::size_t index, std::vector<KerasValue> inputs)
    : config(model.config.layers[index]),
      settings(config.settings),
      layout(all.layers[index]),
      model_(model),
      all_(all),
      inputs_(std::move(inputs)) {}

void KerasLayer::add(const std::string& type, Json settings_of_it,
                     const tensor::Shape& shape, Weights weights) {
  if (!nodes.empty()) {
    KerasNode& before = nodes.back();
    before.name = config.name + "_" + std::to_string(nodes.size());
    before.config["name"] = before.name;
    inputs_[0].layer = before.name;
    inputs_.resize(1);
  }
  settings_of_it["name"] = config.name;
  nodes.push_back({type, config.name, std::move(settings_of_it), inputs_,
                   std::move(weights)});
  inputs_[0] = {config.name, keras_shape(shape)};
}

void KerasLayer::last(const std::string& type, Json settings_of_it,
                      Weights weights) {
  add(type, std::move(settings_of_it), layout.output.shape, std::move(weights));
}

std::string KerasLayer::activation(const char* key) const {
  const tensor::ActivationSpec f = settings.activation(key);
  switch (f.kind) {
    case Activation::kIdentity:
      return "linear";
    case Activation::kExp:
      return "exponential";
    case Activation::kElu:
      if (f.alpha == 1) return "elu";
      break;
    case Activation::kLeakyRelu:
      if (f.alpha == 0.2) return "leaky_relu";
      break;
    case Activation::kSwish:
      if (f.alpha == 1) return "silu";
      break;
    case Activation::kGelu:
      if (!f.approximate) return "gelu";
      break;
    case Activation::kHardSigmoid:
      if (f.alpha == 1.0 / 6) return "hard_sigmoid";
      break;
    case Activation::kRelu:
    case Activation::kSigmoid:
    case Activation::kTanh:
    case Activation::kSoftplus:
    case Activation::kSoftmax:
    case Activation::kRelu6:
    case Activation::kSelu:
    case Activation::kMish:
    case Activation::kSoftsign:
    case Activation::kHardTanh:
    case Activation::kLogSoftmax:
      return std::string(nn::name_of(f.kind));
    default:
      break;
  }
  refuse("\"" + std::string(key) + "\": " + dump_json(settings.at(key)) +
         " is no activation that Keras has by a name");
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
