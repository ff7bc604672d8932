// From a document to a NetworkConfig: fills in defaults and what layers take
// over from the top.

#include <algorithm>
#include <map>
#include <set>

#include "libcore/nn/config.h"
#include "libcore/nn/config_check.h"
#include "libcore/nn/config_table.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/names.h"

namespace dl::nn {
namespace {

constexpr std::size_t kMaxProblemsShown = 100;

// An object that check_document() has nothing against.
class Node {
 public:
  Node(const Json& json, std::string_view object)
      : json_(json), object_(object) {
    const Key* tag = tag_of(object);
    if (!tag) return;
    // A tag alone stands for an object with nothing else in it.
    if (json_.is_string()) json_ = {{std::string(tag->name), json}};
    tag_ = json_.at(std::string(tag->name)).get<std::string>();
  }

  const std::string& tag() const { return tag_; }
  bool takes(const char* name) const {
    return find_key(object_, tag_, name) != nullptr;
  }
  bool has(const char* name) const { return json_.contains(name); }
  // The value, or its default; null for a default that is a phrase.
  Json at(const char* name) const {
    if (const auto it = json_.find(name); it != json_.end()) return *it;
    const Key* key = find_key(object_, tag_, name);
    require(key != nullptr, "a key that the table lacks");
    return key->default_value();
  }
  double number(const char* name) const { return at(name).get<double>(); }
  std::int64_t integer(const char* name) const {
    return at(name).get<std::int64_t>();
  }
  template <typename E>
  E one_of(const char* name) const {
    return named<E>(at(name).get<std::string>());
  }
  void pair(const char* name, std::int64_t (&to)[2]) const {
    const Json value = at(name);
    to[0] = value.at(0).get<std::int64_t>();
    to[1] = value.at(1).get<std::int64_t>();
  }

 private:
  Json json_;
  std::string_view object_;
  std::string tag_;
};

Schedule read_schedule(const Json& json) {
  Schedule schedule;
  if (json.is_number()) {
    schedule.initial = json.get<double>();
    return schedule;
  }
  const Node node(json, "schedule");
  schedule.kind = named<Schedule::Kind>(node.tag());
  schedule.by_epoch = node.at("by") == "epoch";
  schedule.initial = node.number("initial");
  if (node.takes("decay")) schedule.decay = node.number("decay");
  if (node.takes("every")) schedule.every = node.number("every");
  if (node.takes("power")) schedule.power = node.number("power");
  if (node.takes("limit")) schedule.limit = node.number("limit");
  return schedule;
}

UpdaterConfig read_updater(const Json& json) {
  const Node node(json, "updater");
  UpdaterConfig updater;
  updater.kind = named<tensor::Updater>(node.tag());
  updater.learning_rate = read_schedule(node.at("learning_rate"));
  if (node.takes("momentum")) updater.momentum = node.number("momentum");
  if (node.takes("beta1")) updater.beta1 = node.number("beta1");
  if (node.takes("beta2")) updater.beta2 = node.number("beta2");
  if (node.takes("decay")) updater.beta2 = node.number("decay");
  if (node.takes("epsilon")) updater.epsilon = node.number("epsilon");
  return updater;
}

Regularization read_regularization(const Json& json) {
  const Node node(json, "regularization");
  return {node.number("l1"), node.number("l2"), node.number("l1_bias"),
          node.number("l2_bias")};
}

void read_weight_init(const Json& json, WeightInit& kind, double& value) {
  const Node node(json, "weight_init");
  kind = named<WeightInit>(node.tag());
  value = 0;
  if (node.has("value")) value = node.number("value");
  if (node.has("deviation")) value = node.number("deviation");
}

tensor::ActivationSpec read_activation(const Json& json) {
  const Node node(json, "activation");
  tensor::ActivationSpec spec;
  spec.kind = named<tensor::Activation>(node.tag());
  if (node.takes("alpha")) spec.alpha = node.number("alpha");
  return spec;
}

// Reads what `node` says; what it does not say stays as it is.
void read_training(const Node& node, Training& training) {
  const auto given = [&](const char* name) {
    return node.takes(name) && !node.at(name).is_null();
  };
  if (given("updater")) training.updater = read_updater(node.at("updater"));
  if (given("bias_updater"))
    training.bias_updater = read_updater(node.at("bias_updater"));
  if (given("regularization"))
    training.regularization = read_regularization(node.at("regularization"));
  if (given("weight_init")) {
    read_weight_init(node.at("weight_init"), training.weight_init,
                     training.weight_value);
    training.recurrent_init = training.weight_init;
    training.recurrent_value = training.weight_value;
  }
  if (given("recurrent_init"))
    read_weight_init(node.at("recurrent_init"), training.recurrent_init,
                     training.recurrent_value);
  if (given("bias_init")) training.bias_init = node.number("bias_init");
  if (given("gradient_normalization"))
    training.gradient_normalization =
        node.one_of<GradientNormalization>("gradient_normalization");
  if (given("gradient_threshold"))
    training.gradient_threshold = node.number("gradient_threshold");
}

void read_window(const Node& node, LayerConfig& layer) {
  node.pair("kernel", layer.kernel);
  std::copy(layer.kernel, layer.kernel + 2, layer.stride);
  if (!node.at("stride").is_null()) node.pair("stride", layer.stride);
  if (node.takes("dilation")) node.pair("dilation", layer.dilation);
  layer.padding = node.one_of<Padding>("padding");
}

tensor::ActivationSpec activation_for(tensor::Loss loss) {
  switch (loss) {
    case tensor::Loss::kNegativeLogLikelihood:
      return {.kind = tensor::Activation::kSoftmax};
    case tensor::Loss::kBinaryCrossEntropy:
      return {.kind = tensor::Activation::kSigmoid};
    default:
      return {};
  }
}

// top: the training settings of the network.  Biases follow the bias_updater
// of the layer, else that of the network, else the layer's updater.
LayerConfig read_layer(const Json& json, const Training& top,
                       bool top_has_bias_updater) {
  const Node node(json, "layer");
  LayerConfig layer;
  layer.type = named<LayerType>(node.tag());
  if (node.has("name")) layer.name = node.at("name").get<std::string>();
  if (node.takes("units")) layer.units = node.integer("units");
  if (node.takes("filters")) layer.filters = node.integer("filters");
  if (node.takes("kernel")) read_window(node, layer);
  if (node.takes("bias")) layer.bias = node.at("bias").get<bool>();
  if (node.takes("loss")) layer.loss = node.one_of<tensor::Loss>("loss");
  if (node.takes("activation")) {
    const Json activation = node.at("activation");
    layer.activation = activation.is_null() ? activation_for(layer.loss)
                                            : read_activation(activation);
  }
  if (node.takes("gate_activation"))
    layer.gate_activation = read_activation(node.at("gate_activation"));
  if (node.takes("return_sequences"))
    layer.return_sequences = node.at("return_sequences").get<bool>();
  if (node.takes("bidirectional"))
    layer.bidirectional = node.one_of<Bidirectional>("bidirectional");
  if (node.takes("forget_bias_init"))
    layer.forget_bias_init = node.number("forget_bias_init");
  if (node.takes("rate")) layer.rate = node.number("rate");
  if (node.takes("decay")) layer.decay = node.number("decay");
  if (node.takes("epsilon")) layer.epsilon = node.number("epsilon");

  layer.training = top;
  read_training(node, layer.training);
  if (!top_has_bias_updater && !node.has("bias_updater"))
    layer.training.bias_updater = layer.training.updater;
  return layer;
}

// Gives layers without a name their type and the lowest number that is free.
void name_layers(std::vector<LayerConfig>& layers) {
  std::set<std::string> taken;
  std::map<LayerType, int> last;
  for (const LayerConfig& layer : layers) taken.insert(layer.name);
  for (LayerConfig& layer : layers)
    while (layer.name.empty()) {
      std::string name(name_of(layer.type));
      name += std::to_string(++last[layer.type]);
      if (taken.insert(name).second) layer.name = std::move(name);
    }
}

NetworkConfig build(const Json& document) {
  const Node node(document, "network");
  NetworkConfig config;
  config.source = document;
  config.seed = node.at("seed").get<std::uint64_t>();
  if (node.has("tbptt_length"))
    config.tbptt_length = node.integer("tbptt_length");
  const auto shape =
      node.at("input").at("shape").get<std::vector<std::int64_t>>();
  config.input = tensor::Shape(std::span<const std::int64_t>(shape));
  Training top;
  read_training(node, top);
  for (const Json& layer : document.at("layers"))
    config.layers.push_back(read_layer(layer, top, node.has("bias_updater")));
  name_layers(config.layers);
  return config;
}

void refuse(const std::vector<std::string>& problems, const std::string& name) {
  if (problems.empty()) return;
  std::string message;
  const std::size_t shown = std::min(problems.size(), kMaxProblemsShown);
  for (std::size_t i = 0; i < shown; ++i)
    message += (i ? "\n" : "") + name + ": " + problems[i];
  if (shown < problems.size())
    message += "\n" + name + ": and " +
               std::to_string(problems.size() - shown) + " more";
  throw Error{Code::kConfig, message};
}

}  // namespace

NetworkConfig parse_network(std::string_view text, const std::string& name) {
  const Json document = parse_json(text, name, Code::kConfig);
  refuse(check_document(document), name);
  NetworkConfig config = build(document);
  refuse(check_meaning(config), name);
  try {
    layout_of(config);
  } catch (Error& e) {
    e.add_context(name);
    throw;
  }
  return config;
}

}  // namespace dl::nn
