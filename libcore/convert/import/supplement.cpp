// Classes and scaling that the user adds to an imported model.

#include "libcore/convert/import/supplement.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/picture_normalizer.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layout.h"

namespace dl::convert {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> all(1);
  for (const char c : list)
    if (c == ',')
      all.emplace_back();
    else
      all.back() += c;
  return all;
}

std::string joined(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : "; ") + one;
  return text;
}

void add_once(std::vector<std::string>& all, std::string one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
}

// Six digits: the files of other programs have rates as float32.
std::string short_number(const Json& number) {
  std::ostringstream text;
  text << number.get<double>();
  return text.str();
}

// "adam with learning rate 0.001"
std::string spelt(const Json& updater) {
  std::string text = updater["type"];
  if (!updater.contains("learning_rate")) return text;
  const Json& rate = updater["learning_rate"];
  if (!rate.is_object())
    return text + " with learning rate " + short_number(rate);
  return text + " with a learning rate of the schedule " +
         rate.value("schedule", "");
}

bool says_updater(const Json& network) {
  if (network.contains("updater")) return true;
  for (const char* list : {"layers", "nodes"})
    if (network.contains(list))
      for (const Json& layer : network[list])
        if (layer.contains("updater")) return true;
  return false;
}

}  // namespace

void name_classes(nn::Model& model, const std::string& names) {
  if (model.config.outputs.size() != 1)
    bad_usage(
        "--classes: the model has several outputs, and can have names of "
        "classes for one alone");
  std::vector<std::string> classes = split(names);
  const auto wanted = nn::output_of(model.config).units;
  const auto count = static_cast<std::int64_t>(classes.size());
  if (count != std::max<std::int64_t>(wanted, 2))
    bad_usage("--classes: want the names of the " +
              std::to_string(std::max<std::int64_t>(wanted, 2)) +
              " classes that the model tells apart, got " +
              std::to_string(count));
  std::set<std::string> seen;
  for (const std::string& name : classes)
    if (name.empty() || !is_utf8(name) || !seen.insert(name).second)
      bad_usage("--classes: want different names with commas between, got " +
                in_quotes(name) + (name.empty() ? "" : " twice"));
  model.data.classes = std::move(classes);
}

namespace {

std::int64_t columns_of_input(const nn::Model& model) {
  const tensor::Shape& shape = model.config.inputs[0].shape;
  return shape.rank() == 0 ? 1 : shape.back();
}

}  // namespace

void normalize_bytes(nn::Model& model, const std::string& kind) {
  const bool is_of_pictures = data::is_of_pictures(kind);
  if (kind != "scale" && kind != "signed" && !is_of_pictures)
    bad_usage("--normalize: want scale, signed, imagenet or vgg, got " +
              in_quotes(kind));
  if (model.config.inputs.size() != 1)
    bad_usage(
        "--normalize: the model has several inputs, which are not all to be "
        "normalized alike");
  if (!model.normalizers.input(0).changes_nothing())
    bad_usage("--normalize: the model has a normalizer, of the kind " +
              in_quotes(model.normalizers.input(0).kind));
  if (nn::layout_of(model.config).inputs[0].tokens)
    bad_usage("--normalize: the model's input is token numbers");
  if (is_of_pictures && columns_of_input(model) != 3)
    bad_usage("--normalize: " + kind +
              " is of red, green and blue, and the model's input has " +
              std::to_string(columns_of_input(model)) + " channels");
  model.normalizers.inputs = {
      is_of_pictures    ? data::picture_normalizer(kind, false)
      : kind == "scale" ? data::Normalizer{"scale", {0}, {1 / 255.0}}
                        : data::Normalizer{"scale", {127.5}, {1 / 127.5}}};
}

std::string training_of(const Imported& imported) {
  const nn::NetworkConfig& config = imported.model->config;
  const Json document = nn::to_json(config);
  const Json& layers = document[config.is_graph() ? "nodes" : "layers"];
  std::vector<std::string> losses, updaters;
  for (const std::size_t output : config.outputs) {
    const Json& loss = layers[output].value("loss", Json());
    add_once(losses, loss.is_object() ? loss.value("type", std::string())
                                      : loss.get<std::string>());
  }
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (const nn::LayerConfig& layer = config.layers[i];
        layer.type->trains != nn::Trains::kNothing && !layer.training.frozen &&
        layers[i].contains("updater"))
      add_once(updaters, spelt(layers[i]["updater"]));
  return joined(losses) + "; " +
         (says_updater(imported.network)
              ? joined(updaters)
              : "no updater, which means " + joined(updaters));
}

}  // namespace dl::convert
