// Conversion of a document to a NetworkConfig: fills in defaults and what
// layers take over from the top.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/config/config_check.h"
#include "libcore/nn/config/connect.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model/initialise.h"
#include "libcore/nn/time_segments.h"
#include "libcore/nn/update/constraints.h"

namespace dl::nn {
namespace {

constexpr std::size_t kMaxProblemsShown = 100;

UpdaterConfig read_updater(const Json& json) {
  const LayerSettings given(json, "updater");
  UpdaterConfig updater;
  updater.kind = given.one_of<device::Updater>("type");
  updater.learning_rate = schedule_of(given.at("learning_rate"));
  if (given.has("momentum"))
    updater.momentum = schedule_of(given.at("momentum"));
  if (given.has("beta1")) updater.beta1 = given.number("beta1");
  if (given.has("beta2")) updater.beta2 = given.number("beta2");
  if (given.has("decay")) updater.beta2 = given.number("decay");
  if (given.has("epsilon")) updater.epsilon = given.number("epsilon");
  if (given.has("epsilon_at"))
    updater.epsilon_at = given.one_of<device::EpsilonAt>("epsilon_at");
  if (given.has("start")) updater.start = given.number("start");
  if (given.has("momentum_decay"))
    updater.momentum_decay = given.number("momentum_decay");
  if (given.has("weight_decay"))
    updater.weight_decay = given.number("weight_decay");
  return updater;
}

Regularization read_regularization(const Json& json) {
  const LayerSettings given(json, "regularization");
  return {.l1 = given.number("l1"),
          .l2 = given.number("l2"),
          .l1_bias = given.number("l1_bias"),
          .l2_bias = given.number("l2_bias"),
          .weight_decay = given.number("weight_decay"),
          .weight_decay_bias = given.number("weight_decay_bias")};
}

Constraint read_constraint(const Json& json) {
  const LayerSettings given(json, "constraints");
  Constraint constraint;
  constraint.min_norm = given.number("min_norm");
  if (given.has("max_norm")) constraint.max_norm = given.number("max_norm");
  constraint.rate = given.number("rate");
  constraint.non_negative = given.flag("non_negative");
  constraint.biases = given.flag("biases");
  return constraint;
}

WeightNoise read_weight_noise(const Json& json) {
  const LayerSettings given(json, "weight_noise");
  return {.drop_connect = given.number("drop_connect"),
          .deviation = given.number("deviation"),
          .multiplicative = given.flag("multiplicative")};
}

WeightStart read_weight_init(const Json& json) {
  const LayerSettings given(json, "weight_init");
  WeightStart start;
  start.kind = given.one_of<WeightInit>("type");
  for (const char* key : {"value", "deviation", "limit", "gain"})
    if (given.has(key)) start.value = given.number(key);
  if (given.has("mean")) start.mean = given.number("mean");
  if (given.has("scale")) start.scale = given.number("scale");
  if (given.has("mode")) start.mode = given.one_of<FanMode>("mode");
  if (given.has("distribution"))
    start.distribution = given.one_of<ScaledDistribution>("distribution");
  return start;
}

// Reads what `given` says; what it does not say stays as it is.
void read_training(const LayerSettings& given, Training& training) {
  if (given.has("updater"))
    training.updater = read_updater(given.at("updater"));
  if (given.has("bias_updater"))
    training.bias_updater = read_updater(given.at("bias_updater"));
  if (given.has("regularization"))
    training.regularization = read_regularization(given.at("regularization"));
  if (given.has("constraints"))
    training.constraint = read_constraint(given.at("constraints"));
  if (given.has("weight_noise"))
    training.weight_noise = read_weight_noise(given.at("weight_noise"));
  if (given.has("weight_init"))
    training.weight_init = training.recurrent_init =
        read_weight_init(given.at("weight_init"));
  if (given.has("recurrent_init"))
    training.recurrent_init = read_weight_init(given.at("recurrent_init"));
  if (given.has("bias_init")) training.bias_init = given.number("bias_init");
  if (given.has("gradient_normalization"))
    training.gradient_normalization =
        given.one_of<GradientNormalization>("gradient_normalization");
  if (given.has("frozen")) training.frozen = given.flag("frozen");
  if (given.has("gradient_threshold"))
    training.gradient_threshold = given.number("gradient_threshold");
}

// top: the training settings of the network.  Biases follow the bias_updater
// of the layer, else that of the network, else the layer's updater.
LayerConfig read_layer(const Json& json, const Training& top,
                       bool top_has_bias_updater) {
  const LayerSettings given(json, "layer");
  LayerConfig layer;
  layer.type = &layer_type(given.text("type"));
  if (given.has("name")) layer.name = given.text("name");
  layer.each_step =
      given.has("time_distributed") && given.flag("time_distributed");
  if (json.contains("shares")) return layer;  // connect() does the rest
  for (const Key& key : layer.type->keys)
    if (given.has(key.name)) layer.settings.set(key.name, given.at(key.name));
  if (layer.type->complete) layer.type->complete(layer.settings);

  layer.training = top;
  read_training(given, layer.training);
  if (!top_has_bias_updater && !given.has("bias_updater"))
    layer.training.bias_updater = layer.training.updater;
  return layer;
}

// Gives layers without a name their type and the lowest number that is free.
void name_layers(std::vector<LayerConfig>& layers) {
  std::set<std::string> taken;
  std::map<const LayerType*, int> last;
  for (const LayerConfig& layer : layers) taken.insert(layer.name);
  for (LayerConfig& layer : layers)
    while (layer.name.empty()) {
      std::string name(layer.type->name);
      name += std::to_string(++last[layer.type]);
      if (taken.insert(name).second) layer.name = std::move(name);
    }
}

tensor::Shape read_shape(const Json& json) {
  const auto shape = json.get<std::vector<std::int64_t>>();
  return tensor::Shape(std::span<const std::int64_t>(shape));
}

std::vector<std::string> read_names(const Json& json) {
  if (json.is_string()) return {json.get<std::string>()};
  return json.get<std::vector<std::string>>();
}

Links read_links(const Json& node) {
  Links links;
  if (node.contains("from")) links.from = read_names(node["from"]);
  if (node.contains("shares")) links.shares = node["shares"];
  if (node.contains("tied_to")) links.tied_to = node["tied_to"];
  if (node.contains("target")) links.target = node["target"];
  return links;
}

// A node that shares says nothing of its own.
void check_shared(const Json& node, const std::string& place,
                  std::vector<std::string>& problems) {
  constexpr std::string_view kOwn[] = {"type", "name", "from", "shares",
                                       "time_distributed"};
  if (!node.contains("shares")) return;
  for (const auto& [key, value] : node.items())
    if (std::ranges::count(kOwn, key) == 0)
      problems.push_back(place + "." + key + ": '" +
                         node["shares"].get<std::string>() +
                         "', whose parameters it shares, says that");
}

// problems: of how layers are joined.
NetworkConfig build(const Json& document, std::vector<std::string>& problems) {
  const LayerSettings given(document, "network");
  NetworkConfig config;
  config.source = document;
  config.seed = given.at("seed").get<std::uint64_t>();
  if (given.has("tbptt_length"))
    config.tbptt_length = given.integer("tbptt_length");
  config.tbptt_update = given.has("tbptt_update") && given.flag("tbptt_update");
  if (given.has("augment"))
    for (const Json& step : given.at("augment")) {
      LayerSettings settings(step, "augment");
      config.augment.push_back(
          {&augment_type(settings.text("type")), std::move(settings)});
    }
  const bool graph = given.has("nodes");
  if (graph)
    for (const Json& input : given.at("inputs"))
      config.inputs.push_back(
          {input.at("name").get<std::string>(), read_shape(input.at("shape"))});
  else
    config.inputs.push_back({"", read_shape(given.at("input").at("shape"))});
  Training top;
  read_training(given, top);
  const std::string list = graph ? "nodes" : "layers";
  std::vector<Links> links;
  for (const Json& layer : given.at(list)) {
    config.layers.push_back(read_layer(layer, top, given.has("bias_updater")));
    const std::string place = list + "[" + std::to_string(links.size()) + "]";
    config.layers.back().place = place;
    links.push_back(read_links(layer));
    check_shared(layer, place, problems);
  }
  name_layers(config.layers);
  std::vector<std::string> outputs;
  if (graph) outputs = read_names(given.at("outputs"));
  std::ranges::move(connect(config, links, outputs),
                    std::back_inserter(problems));
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

// The configurations of Keras and Deeplearning4j are JSON as well.
void refuse_of_others(const Json& document, const std::string& name) {
  const auto has = [&](const char* key) { return document.contains(key); };
  const char* whose = nullptr;
  if (has("class_name") && has("config")) whose = "Keras";
  if (has("confs") || has("networkInputs")) whose = "Deeplearning4j";
  if (whose != nullptr)
    throw Error{Code::kConfig, name + ": it is a network of " + whose +
                                   "; dl-import makes one of dl-tools of it"};
}

}  // namespace

NetworkConfig parse_network(std::string_view text, const std::string& name) {
  const Json document = parse_json(text, name, Code::kConfig);
  refuse_of_others(document, name);
  refuse(check_document(document), name);
  std::vector<std::string> problems;
  NetworkConfig config = build(document, problems);
  std::ranges::move(check_meaning(config), std::back_inserter(problems));
  refuse(problems, name);
  try {
    const Layout layout = layout_of(config);
    if (std::ranges::all_of(layout.parameters, [&](const Segment& s) {
          return config.layers[s.layer].training.frozen;
        }))
      throw Error{Code::kConfig, "the network has nothing that is trained"};
    check_weight_inits(config, layout);
    if (config.tbptt_update) problems = check_segments(config, layout);
    std::ranges::move(check_augment(config, layout),
                      std::back_inserter(problems));
    Constraints(config, layout);
  } catch (Error& e) {
    e.add_context(name);
    throw;
  }
  refuse(problems, name);
  return config;
}

}  // namespace dl::nn
