// Reads both ways in which Keras writes what a call takes:
//
//   Keras 1, 2  [["conv1", 0, 0, {}], ["conv2", 0, 0, {}]]
//   Keras 3     {"args": [[TENSOR, TENSOR]], "kwargs": {}}, a TENSOR being an
//               object of the class "__keras_tensor__" with a "keras_history"

#include "libcore/convert/import/keras/spec.h"

#include <algorithm>

#include "libcore/base/display.h"

namespace dl::convert::keras {
namespace {

constexpr std::int64_t kMostPlaces = 1'000'000;

Ref ref_of(const JsonView& json) {
  return {
      json.at(std::size_t{0}).string(),
      static_cast<std::size_t>(json.at(std::size_t{1}).integer(0, kMostPlaces)),
      static_cast<std::size_t>(
          json.at(std::size_t{2}).integer(0, kMostPlaces))};
}

bool is_ref(const Json& json) {
  return json.is_array() && json.size() >= 3 && json[0].is_string() &&
         json[1].is_number_integer() && json[2].is_number_integer();
}

bool is_tensor(const Json& json) {
  return json.is_object() &&
         json.value("class_name", Json()) == Json("__keras_tensor__");
}

// Effect of an argument by name on a call: it may be left out where it says
// what a prediction does anyway.
void check_keywords(const JsonView& keywords, CallSpec& call) {
  if (!keywords.raw().is_object()) return;
  for (const auto& [name, value] : keywords.raw().items()) {
    if (name == "training" && value.is_boolean())
      call.training = value.get<bool>();
    if (value.is_null() || name == "training" || value == Json(false)) continue;
    if (name == "use_causal_mask")
      call.causal = true;
    else
      call.problem = "it is called with the argument " + in_quotes(name);
  }
}

void add_tensors(const JsonView& json, CallSpec& call) {
  if (is_tensor(json.raw())) {
    call.from.push_back(ref_of(json.at("config").at("keras_history")));
    return;
  }
  if (json.raw().is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) add_tensors(json.at(i), call);
    return;
  }
  if (json.raw().is_number() && !call.number) {
    call.number = json.number();
    call.number_first = call.from.empty();
    return;
  }
  const Json kind =
      json.raw().is_object() ? json.raw().value("class_name", Json()) : Json();
  if (call.constant.is_null() &&
      (kind == Json("__tensor__") || kind == Json("__numpy__"))) {
    call.constant = json.at("config").at("value").raw();
    call.number_first = call.from.empty();
    return;
  }
  call.problem = "it is called with something that is no layer's output";
}

// The inputs of attention may have names: they go behind the others.
CallSpec keras_3_call(const JsonView& json, bool indexed) {
  CallSpec call;
  const JsonView args = json.at("args");
  if (indexed && args.size() == 2) {
    add_tensors(args.at(std::size_t{0}), call);
    call.index = args.at(std::size_t{1}).raw();
  } else {
    add_tensors(args, call);
  }
  if (!json.has("kwargs") || !json.at("kwargs").raw().is_object()) return call;
  Json others = json.at("kwargs").raw();
  for (const char* name : {"query", "value", "key"})
    if (others.contains(name) && is_tensor(others[name])) {
      add_tensors(json.at("kwargs").at(name), call);
      others.erase(name);
    }
  for (const char* name : {"mask", "query_mask", "value_mask", "key_mask"})
    if (others.contains(name) && is_tensor(others[name])) {
      const JsonView mask = json.at("kwargs").at(name);
      call.masks.push_back(ref_of(mask.at("config").at("keras_history")));
      others.erase(name);
    }
  check_keywords(JsonView(others, Code::kData), call);
  return call;
}

// tf.keras: [["query", 0, 0, {"value": ["other", 0, 0]}]]
void add_old_tensor(const JsonView& json, CallSpec& call) {
  call.from.push_back(ref_of(json));
  if (json.size() < 4 || !json.at(std::size_t{3}).raw().is_object()) return;
  Json others = json.at(std::size_t{3}).raw();
  for (const char* name : {"value", "key"})
    if (others.contains(name) && is_ref(others[name])) {
      call.from.push_back(
          ref_of(JsonView(others[name], Code::kData, json.path())));
      others.erase(name);
    }
  check_keywords(JsonView(others, Code::kData), call);
}

CallSpec call_spec(const JsonView& json, bool indexed) {
  if (json.raw().is_object()) return keras_3_call(json, indexed);
  CallSpec call;
  if (is_ref(json.raw())) {  // of one input, as some versions write it
    add_old_tensor(json, call);
    return call;
  }
  for (std::size_t i = 0; i < json.size(); ++i)
    add_old_tensor(json.at(i), call);
  return call;
}

// One, or a list, or an object of them by name.
std::vector<Ref> refs_of(const JsonView& json) {
  std::vector<Ref> refs;
  if (is_ref(json.raw())) return {ref_of(json)};
  if (json.raw().is_object()) {
    for (const auto& [name, value] : json.raw().items())
      refs.push_back(ref_of(json.at(name)));
    return refs;
  }
  for (std::size_t i = 0; i < json.size(); ++i) {
    const JsonView one = json.at(i);
    if (!is_ref(one.raw()) && one.raw().is_array() && one.size() == 1)
      refs.push_back(ref_of(one.at(std::size_t{0})));
    else
      refs.push_back(ref_of(one));
  }
  return refs;
}

// Classes that compute with a number or a tensor in the place of an input.
bool is_arithmetic(const std::string& class_name) {
  constexpr std::string_view kAll[] = {"Add", "Subtract", "Multiply", "Divide",
                                       "TrueDivide"};
  return std::ranges::find(kAll, class_name) != std::end(kAll);
}

std::string text_or(const JsonView& json, const char* key) {
  return json.has(key) && json.at(key).raw().is_string() ? json.at(key).string()
                                                         : std::string();
}

}  // namespace

// Whether an object of Keras 3 is a function: its HDF5 files do not say the
// module, and layers have more settings.
bool is_function(const JsonView& json) {
  if (json.has("module") || !json.has("inbound_nodes")) return false;
  const Json& calls = json.at("inbound_nodes").raw();
  const Json& config = json.at("config").raw();
  return calls.is_array() && !calls.empty() && calls[0].is_object() &&
         calls[0].contains("args") && config.is_object() &&
         !config.contains("trainable") && !config.contains("dtype");
}

bool is_model(const std::string& class_name, const JsonView& config) {
  if (class_name == "Sequential") return true;
  return config.raw().is_object() && config.has("layers") &&
         config.has("output_layers");
}

LayerSpec layer_spec(const JsonView& json) {
  LayerSpec layer;
  layer.class_name = json.at("class_name").string();
  layer.module = text_or(json, "module");
  if (!text_or(json, "registered_name").empty() &&
      json.at("registered_name").string().find('>') != std::string::npos)
    layer.module = "custom";
  const JsonView config = json.at("config");
  layer.name = text_or(json, "name");
  if (config.raw().is_object() && layer.name.empty())
    layer.name = text_or(config, "name");
  if (layer.name.empty()) layer.name = layer.class_name;
  if (is_model(layer.class_name, config))
    layer.model = std::make_shared<const ModelSpec>(model_spec(json));
  else if (!config.raw().is_object())
    config.fail("an object");
  layer.config = config.raw();
  if (layer.class_name == "TimeDistributed") {
    layer.model = layer_spec(config.at("layer")).model;
    layer.each_step = layer.model != nullptr;
  }
  if (json.has("build_config") && layer.config.is_object())
    layer.config["build_config"] = json.at("build_config").raw();
  if (is_function(json)) layer.module = "keras.src.ops.numpy";
  if (json.has("inbound_nodes")) {
    const JsonView calls = json.at("inbound_nodes");
    for (std::size_t i = 0; i < calls.size(); ++i)
      layer.calls.push_back(
          call_spec(calls.at(i), layer.class_name == "GetItem"));
    for (CallSpec& call : layer.calls)
      if (!call.constant.is_null() && !is_arithmetic(layer.class_name))
        call.problem = "it is called with a constant";
  }
  return layer;
}

ModelSpec model_spec(const JsonView& json) {
  ModelSpec model;
  const std::string class_name = json.at("class_name").string();
  const JsonView config = json.at("config");
  if (!is_model(class_name, config))
    throw Error{Code::kData,
                "its model is of the class " + in_quotes(class_name) +
                    ", which says in Python what it computes; a Sequential or "
                    "functional model would be needed"};
  model.sequential = class_name == "Sequential";
  // Keras before 2.2.3 wrote the list alone.
  const JsonView layers =
      config.raw().is_array() ? config : config.at("layers");
  model.name = config.raw().is_object() ? text_or(config, "name") : "";
  for (std::size_t i = 0; i < layers.size(); ++i)
    model.layers.push_back(layer_spec(layers.at(i)));
  if (model.sequential) return model;
  model.inputs = refs_of(config.at("input_layers"));
  model.outputs = refs_of(config.at("output_layers"));
  drop_computed_masks(model);
  return model;
}

}  // namespace dl::convert::keras
