#include "libcore/convert/export/keras.h"

#include <algorithm>
#include <cctype>

#include "libcore/base/error.h"
#include "libcore/convert/export/keras_layer.h"
#include "libcore/nn/layer_type.h"

namespace dl::convert {
namespace {

// The first that reads archives as these; later ones do, too.
constexpr char kKerasVersion[] = "3.0.0";

// "MaxPooling2D" as "max_pooling2d": what Keras calls the weights of a layer.
std::string snake_case(const std::string& type) {
  std::string text;
  const auto upper = [&](std::size_t i) {
    return i < type.size() && std::isupper(static_cast<unsigned char>(type[i]));
  };
  const auto lower = [&](std::size_t i) {
    return i < type.size() && std::islower(static_cast<unsigned char>(type[i]));
  };
  for (std::size_t i = 0; i < type.size(); ++i) {
    if (i > 0 && upper(i) && (lower(i - 1) || lower(i + 1))) text += '_';
    text +=
        static_cast<char>(std::tolower(static_cast<unsigned char>(type[i])));
  }
  return text;
}

Json keras_tensor(const KerasValue& value) {
  return {{"class_name", "__keras_tensor__"},
          {"config",
           {{"shape", value.shape},
            {"dtype", value.dtype},
            {"keras_history", {value.layer, 0, 0}}}}};
}

// One is not in a list.
Json one_or_all(const Json& all) { return all.size() == 1 ? all[0] : all; }

class Writer {
 public:
  explicit Writer(const nn::Model& model)
      : model_(model),
        config_(model.config),
        layout_(nn::layout_of(model.config)) {}

  std::string write() {
    for (std::size_t i = 0; i < config_.inputs.size(); ++i) add_input(i);
    for (std::size_t i = 0; i < config_.layers.size(); ++i) add_layer(i);
    Json outputs = Json::array();
    for (std::size_t i = 0; i < config_.outputs.size(); ++i)
      outputs.push_back({add_output(i), 0, 0});
    const Json whole{{"module", "keras.src.models.functional"},
                     {"class_name", "Functional"},
                     {"config",
                      {{"name", "network"},
                       {"trainable", true},
                       {"layers", layers_},
                       {"input_layers", one_or_all(inputs_)},
                       {"output_layers", one_or_all(outputs)}}},
                     {"registered_name", "Functional"}};
    return zip_file(
        {{"metadata.json", dump_json({{"keras_version", kKerasVersion},
                                      {"date_saved", "2020-01-01@00:00:00"}})},
         {"config.json", dump_json(whole)},
         {"model.weights.h5", hdf5_file(tensors_, groups_)}});
  }

 private:
  void add_input(std::size_t i);
  void add_layer(std::size_t i);
  std::string add_output(std::size_t i);
  void add(const KerasNode& node);

  const nn::Model& model_;
  const nn::NetworkConfig& config_;
  nn::Layout layout_;
  Json layers_ = Json::array(), inputs_ = Json::array();
  std::map<std::string, KerasTensor> tensors_;
  std::vector<std::string> groups_;
  std::map<std::string, int> counts_;  // of layers by snake_case()
  std::vector<KerasValue> values_;     // as nn::Value counts them
};

void Writer::add(const KerasNode& node) {
  Json args = Json::array();
  for (const KerasValue& value : node.inputs)
    args.push_back(keras_tensor(value));
  if (args.size() > 1) args = Json::array({args});
  Json inbound = Json::array();
  if (!args.empty())
    inbound.push_back({{"args", args}, {"kwargs", Json::object()}});
  layers_.push_back({{"module", "keras.layers"},
                     {"class_name", node.type},
                     {"config", node.config},
                     {"registered_name", nullptr},
                     {"name", node.name},
                     {"inbound_nodes", inbound}});
  std::string path = "layers/" + snake_case(node.type);
  const int count = counts_[path]++;
  if (count > 0) path += "_" + std::to_string(count);
  groups_.push_back(path + "/vars");
  for (const auto& [at, tensor] : node.weights)
    tensors_[path + "/" + at] = tensor;
}

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
  add({"InputLayer",
       name,
       {{"name", name}, {"batch_shape", value.shape}, {"dtype", value.dtype}},
       {},
       {}});
  inputs_.push_back({name, 0, 0});
  const auto follow = [&](const std::string& type, const char* suffix,
                          Json settings, const Json& shape,
                          KerasLayer::Weights weights) {
    settings["name"] = name + suffix;
    add({type, name + suffix, settings, {value}, std::move(weights)});
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

void Writer::add_layer(std::size_t i) {
  const nn::LayerConfig& config = config_.layers[i];
  std::vector<KerasValue> inputs;
  inputs.reserve(config.from.size());
  for (const nn::Value v : config.from) inputs.push_back(values_[v]);
  KerasLayer layer(model_, layout_, i, inputs);
  if (layout_.layers[i].each_of > 0)
    layer.refuse("\"time_distributed\" is not written for Keras yet");
  const auto rules = keras_rules();
  const auto rule =
      std::ranges::find(rules, config.type->name, &KerasRule::type);
  if (rule == rules.end()) {
    if (!config.type->disturbs)
      layer.refuse("is not written for Keras yet; ONNX has it");
    values_.push_back(values_[config.from[0]]);
    return;
  }
  rule->write(layer);
  for (const KerasNode& node : layer.nodes) add(node);
  values_.push_back({config.name, keras_shape(layout_.layers[i].output.shape)});
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
  add({"Rescaling",
       name,
       {{"name", name},
        {"scale", one ? Json(scale[0]) : Json(scale)},
        {"offset", one ? Json(n.shift[0]) : Json(n.shift)}},
       {value},
       {}});
  return name;
}

}  // namespace

std::string to_keras(const nn::Model& model) { return Writer(model).write(); }

}  // namespace dl::convert
