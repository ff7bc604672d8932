// Conversion of a NetworkConfig to a document with every default.

#include "libcore/nn/config/config.h"
#include "libcore/nn/config/config_table.h"
#include "libcore/nn/config/layer_type.h"

namespace dl::nn {
namespace {

Json write_updater(const UpdaterConfig& updater) {
  const std::string tag(spell(updater.kind));
  Json json{{"type", tag}, {"learning_rate", to_json(updater.learning_rate)}};
  const auto put = [&](const char* name, Json value) {
    if (find_key("updater", tag, name)) json[name] = std::move(value);
  };
  put("momentum", to_json(updater.momentum));
  put("beta1", updater.beta1);
  put("beta2", updater.beta2);
  put("decay", updater.beta2);
  put("epsilon", updater.epsilon);
  if (updater.epsilon_at != device::EpsilonAt::kRoot)
    put("epsilon_at", spell(updater.epsilon_at));
  if (updater.start) put("start", *updater.start);
  if (updater.momentum_decay != UpdaterConfig{}.momentum_decay)
    put("momentum_decay", updater.momentum_decay);
  put("weight_decay", updater.weight_decay);
  return json;
}

Json write_weight_init(const WeightStart& start) {
  const std::string tag(spell(start.kind));
  Json json{{"type", tag}};
  const auto put = [&](const char* name, Json value) {
    if (find_key("weight_init", tag, name)) json[name] = std::move(value);
  };
  put("value", start.value);
  put("gain", start.value);
  if (start.value > 0) {  // else it follows from the fan
    put("deviation", start.value);
    put("limit", start.value);
  }
  put("mean", start.mean);
  put("scale", start.scale);
  put("mode", spell(start.mode));
  put("distribution", spell(start.distribution));
  return json.size() > 1 ? json : Json(tag);
}

// A decay that there is not is left out.
Json write_regularization(const Regularization& regularization) {
  Json json{{"l1", regularization.l1},
            {"l2", regularization.l2},
            {"l1_bias", regularization.l1_bias},
            {"l2_bias", regularization.l2_bias}};
  const auto put = [&](const char* name, double value) {
    if (value > 0) json[name] = value;
  };
  put("weight_decay", regularization.weight_decay);
  put("weight_decay_bias", regularization.weight_decay_bias);
  return json;
}

Json write_constraint(const Constraint& constraint) {
  Json json = Json::object();
  if (constraint.bounds_norm())
    json = {{"min_norm", constraint.min_norm}, {"rate", constraint.rate}};
  if (std::isfinite(constraint.max_norm))
    json["max_norm"] = constraint.max_norm;
  json["non_negative"] = constraint.non_negative;
  json["biases"] = constraint.biases;
  return json;
}

Json write_weight_noise(const WeightNoise& noise) {
  return {{"drop_connect", noise.drop_connect},
          {"deviation", noise.deviation},
          {"multiplicative", noise.multiplicative}};
}

// Writes the `from` of a layer: one name, or several.
Json write_names(const NetworkConfig& config, const std::vector<Value>& from) {
  Json names = Json::array();
  for (const Value v : from)
    names.push_back(v < config.inputs.size()
                        ? config.inputs[v].name
                        : config.layers[v - config.inputs.size()].name);
  return names.size() == 1 ? names[0] : names;
}

Json write_shape(const tensor::Shape& shape) {
  Json json = Json::array();
  for (const std::int64_t extent : shape.extents()) json.push_back(extent);
  return json;
}

Json write_layer(const LayerConfig& layer) {
  const std::string_view tag = layer.type->name;
  const Training& training = layer.training;
  Json json = layer.settings.json();
  const auto put = [&](const char* name, Json value) {
    if (find_key("layer", tag, name)) json[name] = std::move(value);
  };
  put("type", tag);
  put("name", layer.name);
  if (layer.each_step) put("time_distributed", true);
  put("updater", write_updater(training.updater));
  put("bias_updater", write_updater(training.bias_updater));
  put("regularization", write_regularization(training.regularization));
  if (training.constraint.any())
    put("constraints", write_constraint(training.constraint));
  if (training.weight_noise.any())
    put("weight_noise", write_weight_noise(training.weight_noise));
  put("weight_init", write_weight_init(training.weight_init));
  put("recurrent_init", write_weight_init(training.recurrent_init));
  put("bias_init", training.bias_init);
  put("gradient_normalization", spell(training.gradient_normalization));
  put("gradient_threshold", training.gradient_threshold);
  if (training.frozen) put("frozen", true);
  return json;
}

void leave_out(Json& layer, const char* key, const char* follows) {
  if (layer.contains(key) && layer.contains(follows) &&
      layer[key] == layer[follows])
    layer.erase(key);
}

// Takes a key out of all layers that have it, if they say the same: what.
Json take_common(Json& layers, const char* key) {
  Json common;
  for (const Json& layer : layers) {
    if (!layer.contains(key)) continue;
    if (!common.is_null() && common != layer[key]) return {};
    common = layer[key];
  }
  for (Json& layer : layers) layer.erase(key);
  return common;
}

}  // namespace

Json readable_json(const NetworkConfig& config) {
  Json json = to_json(config);
  Json& layers = json[config.is_graph() ? "nodes" : "layers"];
  for (Json& layer : layers) {
    leave_out(layer, "bias_updater", "updater");
    leave_out(layer, "recurrent_init", "weight_init");
  }
  for (const char* key :
       {"updater", "regularization", "weight_init", "bias_init",
        "gradient_normalization", "gradient_threshold"})
    if (Json common = take_common(layers, key); !common.is_null())
      json[key] = std::move(common);
  return json;
}

Json to_json(const NetworkConfig& config) {
  Json json{{"seed", config.seed}};
  Json layers = Json::array();
  for (const LayerConfig& layer : config.layers) {
    layers.push_back(write_layer(layer));
    if (!config.is_graph()) continue;
    Json& node = layers.back();
    if (layer.shares) {
      node = {{"type", layer.type->name},
              {"name", layer.name},
              {"shares", config.layers[*layer.shares].name}};
      if (layer.each_step) node["time_distributed"] = true;
    }
    node["from"] = write_names(config, layer.from);
  }
  if (config.is_graph()) {
    json["nodes"] = std::move(layers);
    for (const InputConfig& input : config.inputs)
      json["inputs"].push_back(
          {{"name", input.name}, {"shape", write_shape(input.shape)}});
    for (const std::size_t output : config.outputs)
      json["outputs"].push_back(config.layers[output].name);
  } else {
    json["layers"] = std::move(layers);
    json["input"] = {{"shape", write_shape(config.inputs[0].shape)}};
  }
  for (const AugmentConfig& step : config.augment)
    json["augment"].push_back(step.settings.json());
  if (config.tbptt_length > 0) json["tbptt_length"] = config.tbptt_length;
  if (config.tbptt_update) json["tbptt_update"] = true;
  return json;
}

}  // namespace dl::nn
