// Import of a model of any kind.

#include "libcore/convert/import/import.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/dl4j/conf.h"
#include "libcore/convert/import/dl4j/model.h"
#include "libcore/convert/import/empty_model.h"
#include "libcore/convert/import/file.h"
#include "libcore/convert/import/keras/model.h"
#include "libcore/convert/import/onnx/about.h"
#include "libcore/convert/import/onnx/labels.h"
#include "libcore/convert/import/onnx/make.h"
#include "libcore/convert/import/onnx/pattern.h"
#include "libcore/convert/import/onnx/schema.h"
#include "libcore/convert/import/sandbox/sandbox.h"
#include "libcore/nn/layout.h"

namespace dl::convert {
namespace {

std::string text_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>()
                                                   : std::string();
}

Json parsed(const std::string* text, const char* name) {
  return text == nullptr ? Json() : parse_json(*text, name, Code::kData);
}

// The texts of Keras's HDF5 files are attributes of the root.
Json attribute(const File& file, const char* name) {
  const Json all = parsed(file.archive.text("attributes"), "its attributes");
  if (!all.is_object() || !all.contains("/")) return {};
  const std::string text = text_in(all["/"], name);
  return text.empty()
             ? Json()
             : parse_json(text, std::string("its ") + name, Code::kData);
}

std::string plain_attribute(const File& file, const char* name) {
  const Json all = parsed(file.archive.text("attributes"), "its attributes");
  return all.is_object() && all.contains("/") ? text_in(all["/"], name) : "";
}

// A configuration may have a member for the model: {"model": {...}}.
bool is_keras(const Json& json) {
  return json.is_object() && json.contains("class_name") &&
         json.contains("config");
}

keras::Source source_of(const File& file) {
  keras::Source source;
  switch (file.container) {
    case Container::kHdf5:
      source.model = attribute(file, "model_config");
      source.training = attribute(file, "training_config");
      source.version = plain_attribute(file, "keras_version");
      source.backend = plain_attribute(file, "backend");
      if (source.model.is_null())
        bad_data(
            "it has weights and does not say what network they are of: give "
            "the configuration (model.to_json()), and this file with "
            "--weights");
      break;
    case Container::kZip:
      source.model = parsed(file.archive.text("config.json"), "'config.json'");
      source.version =
          text_in(parsed(file.archive.text("metadata.json"), "'metadata.json'"),
                  "keras_version");
      break;
    case Container::kOnnx:
      break;
    case Container::kJson:
      source.model = parsed(file.archive.text("json"), "its text");
      source.version = text_in(source.model, "keras_version");
      source.backend = text_in(source.model, "backend");
      break;
  }
  if (!is_keras(source.model))
    bad_data(
        "it is JSON, but no model that is imported: want an object with "
        "class_name and config, as Keras writes it");
  if (source.training.is_null() && source.model.contains("compile_config"))
    source.training = source.model["compile_config"];
  if (file.container != Container::kJson) source.weights = &file.archive;
  return source;
}

// A document that networks here refuse is no mistake of the user's.
nn::NetworkConfig network_of(const Json& document) {
  try {
    return nn::parse_network(dump_json(document), "what is made of it");
  } catch (const Error& e) {
    const std::string message = e.what();
    bad_data(message.substr(0, message.find('\n')));
  }
}

nn::Model filled(const std::map<std::string, Fill>& fills,
                 nn::NetworkConfig config) {
  const nn::Layout layout = nn::layout_of(config);
  nn::Model model = empty_model(std::move(config), layout);
  const auto fill = [&](const std::vector<nn::Segment>& segments,
                        std::vector<float>& to) {
    for (const nn::Segment& segment : segments) {
      const auto found = fills.find(segment.name);
      require(found != fills.end(), "a tensor that nothing fills");
      found->second(
          std::span(to).subspan(static_cast<std::size_t>(segment.offset),
                                static_cast<std::size_t>(segment.elements())));
    }
  };
  fill(layout.parameters, model.parameters);
  fill(layout.statistics, model.statistics);
  return model;
}

Imported import_keras(const File& file, const std::optional<File>& weights,
                      const ImportOptions& options) {
  keras::Source source = source_of(file);
  source.shapes = options.shapes;
  if (!options.backend.empty()) source.backend = options.backend;
  if (weights) source.weights = &weights->archive;
  const keras::Result result = keras::make_network(source);
  Imported imported;
  imported.from =
      "Keras" + (source.version.empty() ? "" : " " + displayed(source.version));
  imported.network = result.document;
  imported.notes.assign(result.notes.begin(), result.notes.end());
  imported.inputs = result.inputs;
  imported.outputs = result.outputs;
  nn::NetworkConfig config = network_of(result.document);
  if (source.weights != nullptr)
    imported.model = filled(result.fills, std::move(config));
  return imported;
}

bool is_dl4j(const File& file) {
  if (file.archive.text("configuration.json") != nullptr) return true;
  return file.container == Container::kJson &&
         dl4j::is_conf(parsed(file.archive.text("json"), "its text"));
}

// Names beside what is missing the thing that lies in its place.
void say_what_lies_there(const Archive& archive, Error& e) {
  const Json unread = parsed(archive.text("unread"), "what is not read of it");
  const std::string message = e.what();
  for (const auto& [path, what] : unread.items())
    if (message.find("'" + displayed(path) + "'") != std::string::npos ||
        message.find("'" + displayed(path) + "/") != std::string::npos)
      e = Error{e.code(), message + ": " + in_quotes(path) + " is " +
                              what.get<std::string>()};
}

Imported import_dl4j(const File& file, const ImportOptions& options) {
  if (!options.weights.empty())
    throw Error{Code::kUsage,
                "--weights goes with a configuration of Keras; a model of "
                "Deeplearning4j has its own"};
  dl4j::Result result = dl4j::make_model(file.archive, options.shapes);
  Imported imported;
  imported.from = "Deeplearning4j";
  imported.network = std::move(result.document);
  imported.model = std::move(result.model);
  imported.notes.assign(result.notes.begin(), result.notes.end());
  imported.inputs = std::move(result.inputs);
  imported.outputs = std::move(result.outputs);
  // One without parameters has no numbers.
  if (file.container == Container::kZip && !imported.model &&
      nn::layout_of(network_of(imported.network)).parameter_count > 0)
    bad_data(
        "it has no member 'coefficients.bin', the numbers of its parameters: "
        "of its network alone, give the member configuration.json");
  return imported;
}

// A few bytes may say a constant that is repeated without end.
void want_as_many(std::int64_t most, const nn::NetworkConfig& config) {
  const std::int64_t count = nn::layout_of(config).parameter_count;
  if (count > most)
    bad_data("what is made of it has " + std::to_string(count) +
             " parameters, and its tensors are of far fewer numbers");
}

// Its probabilities are not what a loss here takes: it is trained for nothing
// that one would want.
void note_log_softmax(const Json& network, std::vector<std::string>& notes) {
  for (const char* key : {"layers", "nodes"})
    for (const Json& layer : network.value(key, Json::array()))
      if (layer.contains("loss") &&
          text_in(layer, "activation") == "log_softmax")
        notes.push_back(
            "its output " + in_quotes(text_in(layer, "name")) +
            " is log_softmax, and would be trained with mean_squared_error: "
            "see TRAINING ON in dl-import(1)");
}

using Targets = std::map<std::string, std::string>;

// targets: by output.
Imported made_of(const onnx::Model& model,
                 const onnx::NamedNormalizers& normalizers,
                 const ImportOptions& options, const Targets& targets) {
  onnx::Result result = onnx::make_network(model, options.shapes, targets);
  Imported imported;
  imported.from =
      "ONNX" + (model.producer.empty() ? "" : " of " + model.producer);
  imported.network = std::move(result.document);
  nn::NetworkConfig config = network_of(imported.network);
  want_as_many(onnx::most_numbers(model), config);
  imported.model = filled(result.fills, std::move(config));
  const auto put = [](const std::vector<Port>& ports, const auto& by_name,
                      std::vector<data::Normalizer>& to) {
    to.clear();
    for (const Port& port : ports) {
      const auto found = by_name.find(port.name);
      to.push_back(found == by_name.end() ? data::Normalizer{} : found->second);
    }
  };
  put(result.inputs, normalizers.inputs, imported.model->normalizers.inputs);
  put(result.outputs, normalizers.outputs, imported.model->normalizers.outputs);
  onnx::take_names(model, *imported.model, imported.notes);
  imported.notes.insert(imported.notes.end(), result.notes.begin(),
                        result.notes.end());
  note_log_softmax(imported.network, imported.notes);
  imported.inputs = std::move(result.inputs);
  imported.outputs = std::move(result.outputs);
  imported.beside = model.beside;
  return imported;
}

// Targets that do not go with the network are none.
Imported made_of(const onnx::Model& model,
                 const onnx::NamedNormalizers& normalizers,
                 const ImportOptions& options) {
  if (const Targets targets = onnx::targets_of(model); !targets.empty()) try {
      Imported imported = made_of(model, normalizers, options, targets);
      if (onnx::follow_targets(*imported.model)) return imported;
    } catch (const Error&) {  // nor with the loss that it has here
    }
  return made_of(model, normalizers, options, {});
}

Imported work_out(onnx::Model model, const ImportOptions& options) {
  const onnx::NamedNormalizers normalizers = onnx::take_normalizers(model);
  const std::vector<std::string> left_out = onnx::drop_labels(model);
  onnx::want_known(model);
  onnx::simplify(model);
  Imported imported;
  try {
    imported = made_of(model, normalizers, options);
    for (const auto& beside : model.files)
      if (beside) beside->require_unchanged();
  } catch (const Error& e) {
    const std::string masked = onnx::why_masked(model);
    if (e.code() == Code::kData && !masked.empty()) bad_data(masked);
    throw;
  }
  imported.notes.insert(imported.notes.begin(), left_out.begin(),
                        left_out.end());
  return imported;
}

// The bytes of its numbers, wherever they lie.
std::uint64_t size_of(const onnx::Model& model, const File& file) {
  std::uint64_t size = 0;
  for (const auto& [name, array] : file.archive.arrays)
    size += array.values.size_bytes();
  for (const auto& beside : model.files)
    if (beside) size += beside->bytes().size();
  return size;
}

// A few nodes can ask for gigabytes and minutes: all is worked out in the
// sandbox first, where both are limited.  Other errors are reported here.
Imported import_onnx(const File& file, const ImportOptions& options) {
  onnx::Model model = onnx::model_of(file.archive, file.path);
  const std::uint64_t size = size_of(model, file);
  const SandboxLimits limits{
      .memory = (std::uint64_t{1} << 29) + 24 * size,
      .result = 1 << 16,
      .time = std::chrono::seconds(5 + static_cast<long>(size >> 22))};
  run_in_sandbox(limits, [&](const Write&) {
    try {
      (void)work_out(model, options);
    } catch (const Error&) {
    }
  });
  return work_out(std::move(model), options);
}

}  // namespace

Imported import_model(const std::string& spec, const ImportOptions& options) {
  const File file = open_file(spec);
  std::optional<File> weights;
  if (!options.weights.empty()) {
    if (file.container != Container::kJson)
      throw Error{Code::kUsage,
                  "--weights goes with a configuration in JSON; " + file.name +
                      " has its own"};
    weights = open_file(options.weights);
    if (weights->container != Container::kHdf5)
      throw Error{Code::kData, weights->name + ": want weights in HDF5"};
  }
  try {
    if (file.container == Container::kOnnx) return import_onnx(file, options);
    return is_dl4j(file) ? import_dl4j(file, options)
                         : import_keras(file, weights, options);
  } catch (Error& e) {
    if (e.code() != Code::kData) throw;
    say_what_lies_there(weights ? weights->archive : file.archive, e);
    e.add_context(file.name);
    throw;
  }
}

}  // namespace dl::convert
