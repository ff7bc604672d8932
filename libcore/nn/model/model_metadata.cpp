// The __metadata__ of a model file.

#include "libcore/nn/model/model_metadata.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "libcore/base/display.h"

namespace dl::nn {
namespace {

constexpr int kMajorVersion = 2;
bool normalizes_targets(const Model& model) {
  return std::ranges::any_of(
      model.normalizers.outputs,
      [](const data::Normalizer& n) { return !n.changes_nothing(); });
}

// A reader of version 1 would take outputs for what they are not if targets
// were normalized, and does not mix columns.
const char* version_of(const Model& model) {
  const bool mixes =
      std::ranges::any_of(model.normalizers.inputs,
                          [](const data::Normalizer& n) { return n.mixes(); });
  return mixes || normalizes_targets(model) ? "2.0" : "1.0";
}
constexpr char kDataPrefix[] = "data.";

const std::string& text_at(const ModelStrings& metadata, const char* key) {
  const auto it = metadata.find(key);
  if (it == metadata.end())
    bad_data(std::string("the metadata lack '") + key + "'");
  return it->second;
}

Json json_at(const ModelStrings& metadata, const char* key) {
  return parse_json(text_at(metadata, key),
                    std::string("metadata '") + key + "'", Code::kData);
}

std::vector<data::Normalizer> normalizers_at(const ModelStrings& metadata,
                                             const char* key,
                                             std::size_t wanted) {
  const Json json = json_at(metadata, key);
  auto all = data::normalizers_from_json(JsonView(json, Code::kData, key));
  if (all.size() != wanted)
    bad_data("has " + std::to_string(all.size()) + " of '" + displayed(key) +
             "', its network wants " + std::to_string(wanted));
  return all;
}

// A single output tells two classes apart.
void check_classes(const Model& model) {
  const std::size_t classes = model.data.classes.size();
  const std::int64_t units = output_of(model.config).units;
  if (std::cmp_greater(classes, std::max<std::int64_t>(units, 2)))
    bad_data("has the names of " + std::to_string(classes) +
             " classes, its network " + std::to_string(units) + " outputs");
}

}  // namespace

ModelStrings metadata_of(const Model& model) {
  ModelStrings text{
      {"format", "dl-model"},
      {"version", version_of(model)},
      {"network", dump_json(to_json(model.config))},
      {"normalizer", dump_json(data::to_json(model.normalizers.inputs))},
      {"provenance", dump_json(data::to_json(model.provenance))}};
  if (normalizes_targets(model))
    text["target_normalizer"] =
        dump_json(data::to_json(model.normalizers.outputs));
  for (const auto& [key, value] : model.data.to_strings())
    text[kDataPrefix + key] = value;
  if (!model.training.is_null()) text["training"] = dump_json(model.training);
  return text;
}

void check_version(const ModelStrings& metadata) {
  const auto format = metadata.find("format");
  if (format == metadata.end() || format->second != "dl-model")
    bad_data(
        "is no model of dl-tools (its metadata lack the format); of weights of "
        "PyTorch dl-import --weights makes one");
  const std::string& version = text_at(metadata, "version");
  int major = 0;
  const char* end = version.data() + version.size();
  const auto [rest, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc() || rest == end || *rest != '.' || major < 1)
    bad_data("version '" + clipped(version) + "' is none");
  if (major > kMajorVersion)
    bad_data("is a model of version " + clipped(version) +
             "; this program reads up to version " +
             std::to_string(kMajorVersion));
}

Model model_from(const ModelStrings& metadata) {
  Model model;
  try {
    model.config = parse_network(text_at(metadata, "network"), "network");
  } catch (const Error& e) {
    bad_data(e.what());
  }
  model.normalizers.inputs =
      normalizers_at(metadata, "normalizer", model.config.inputs.size());
  for (std::size_t i = 0; i < model.config.inputs.size(); ++i) {
    const data::Normalizer& n = model.normalizers.inputs[i];
    const tensor::Shape& shape = model.config.inputs[i].shape;
    if (n.mixes() && (shape.rank() == 0 || n.outputs() != shape.back()))
      bad_data("the normalizer makes " + std::to_string(n.outputs()) +
               " columns, the network's input is " + shape.to_string());
  }
  model.normalizers.outputs.resize(model.config.outputs.size());
  if (metadata.contains("target_normalizer")) {
    model.normalizers.outputs = normalizers_at(metadata, "target_normalizer",
                                               model.config.outputs.size());
    for (std::size_t i = 0; i < model.config.outputs.size(); ++i) {
      const std::size_t columns = model.normalizers.outputs[i].shift.size();
      const std::int64_t units = output_of(model.config, i).units;
      if (model.normalizers.outputs[i].mixes())
        bad_data("targets cannot be normalized by " +
                 model.normalizers.outputs[i].kind);
      if (columns != 1 && std::cmp_not_equal(columns, units))
        bad_data("the normalizer of targets has " + std::to_string(columns) +
                 " columns, the network " + std::to_string(units) + " outputs");
    }
  }
  if (metadata.contains("provenance")) {
    const Json provenance = json_at(metadata, "provenance");
    model.provenance = data::provenance_from_json(
        JsonView(provenance, Code::kData, "provenance"));
  }
  ModelStrings data;
  for (const auto& [key, value] : metadata)
    if (key.starts_with(kDataPrefix))
      data[key.substr(sizeof kDataPrefix - 1)] = value;
  // Unlike from_strings(), update() looks for contradictions.
  if (!data.empty()) model.data.update(data::Metadata::from_strings(data));
  check_classes(model);
  if (metadata.contains("training"))
    model.training = json_at(metadata, "training");
  return model;
}

}  // namespace dl::nn
