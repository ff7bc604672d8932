// Warnings about runs that train, but hardly as intended.

#include "libcore/cluster/run_config/oddities.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/number_format.h"
#include "libcore/nn/config/config_table.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/data/data_check.h"
#include "libcore/nn/layout.h"

namespace dl::cluster {
namespace {

bool is_never_negative(device::Activation activation) {
  using device::Activation;
  switch (activation) {
    case Activation::kRelu:
    case Activation::kRelu6:
    case Activation::kThresholdedRelu:
    case Activation::kSoftplus:
    case Activation::kSigmoid:
    case Activation::kHardSigmoid:
    case Activation::kRectifiedTanh:
    case Activation::kExp:
      return true;
    default:
      return false;
  }
}

// Warns of data that fit an output, but that it cannot learn or does not need.
void tell_oddities(const nn::NetworkConfig& network, std::size_t i,
                   const data::Metadata& metadata, const Log& log) {
  if (network.layers[network.outputs[i]].target) return;
  const nn::OutputSpec output = output_of(network, i);
  const std::string& name = network.layers[network.outputs[i]].name;
  const bool one = network.outputs.size() == 1;
  const std::string layer =
      one ? "the output layer" : "output '" + displayed(name) + "'";
  const data::Metadata data = metadata.part(one ? "" : name);
  const std::size_t classes = data.classes.size();
  if (classes > 0 && nn::are_classes(metadata, network, i) &&
      std::cmp_not_equal(output.units, classes))
    log(Level::kWarning, layer + " has " + std::to_string(output.units) +
                             " units, the data have " +
                             std::to_string(classes) +
                             " classes: what is left over is never right");
  const auto numbers = data.schema.find("labels");
  if (classes == 1 && output.units == 1 && numbers != data.schema.end() &&
      !tensor::is_real(numbers->second.dtype))
    log(Level::kWarning,
        layer +
            " has one unit, which tells two classes apart, and the data "
            "have one, " +
            in_quotes(data.classes.front()) +
            ": dl-preprocess --classes names both");
  const auto& labels = data.label_statistics;
  if (labels && !labels->min.empty() && std::ranges::min(labels->min) < 0 &&
      is_never_negative(output.activation.kind))
    log(Level::kInfo, layer + " has the activation " +
                          std::string(nn::name_of(output.activation.kind)) +
                          ", which gives no negative values, but there are "
                          "such targets; identity gives them");
}

// Layers that see one value of each channel in an example.
std::string lone_norms(const nn::NetworkConfig& network) {
  const nn::Layout layout = nn::layout_of(network);
  std::string names;
  for (std::size_t i = 0; i < layout.layers.size(); ++i) {
    const nn::LayerLayout& layer = layout.layers[i];
    const tensor::Shape& shape = layer.output.shape;
    if (layer.statistics_begin == layer.statistics_end ||
        network.layers[i].training.frozen ||
        shape.elements() * layer.output.copies > shape.back())
      continue;
    names += (names.empty() ? "'" : ", '") + network.layers[i].name + "'";
  }
  return names;
}

// Whether a layer scales or normalizes the input first.
bool normalizes_input(const nn::NetworkConfig& network) {
  constexpr std::array kTypes{"scale", "batch_norm", "layer_norm",
                              "group_norm"};
  return std::ranges::any_of(network.layers, [&](const nn::LayerConfig& layer) {
    return std::ranges::find(kTypes, layer.type->name) != kTypes.end() &&
           std::ranges::all_of(layer.from, [&](nn::Value from) {
             return from < network.inputs.size();
           });
  });
}

}  // namespace

void tell_oddities(const nn::NetworkConfig& network,
                   const data::Metadata& metadata, const Log& log) {
  for (std::size_t i = 0; i < network.outputs.size(); ++i)
    tell_oddities(network, i, metadata, log);
  if (has_plain_updater(network))
    log(Level::kInfo,
        "the updater is plain sgd with a learning rate of 0.001, the default, "
        "which learns slowly; see updater in dl-network(5)");
}

bool has_plain_updater(const nn::NetworkConfig& network) {
  const nn::UpdaterConfig plain{.learning_rate = {.initial = 0.001}};
  return std::ranges::all_of(network.layers, [&](const nn::LayerConfig& layer) {
    return !nn::find_key("layer", layer.type->name, "updater") ||
           layer.training.updater == plain;
  });
}

void tell_lone_values(const nn::NetworkConfig& network, std::int64_t batch,
                      std::int64_t examples, const Log& log) {
  const bool always = batch == 1 || examples == 1;
  if (!always && examples % batch != 1) return;
  const std::string names = lone_norms(network);
  if (names.empty()) return;
  log(Level::kWarning,
      names + (always
                   ? ": the variance of mini-batches of one example is 0, so "
                     "that batch normalization makes nothing but its beta "
                     "of them; take a larger --batch"
                   : ": the last mini-batch of an epoch has one example, "
                     "whose variance is 0, so that nothing is learnt of "
                     "it there; take another --batch"));
}

std::string remedy_of_scale(const nn::NetworkConfig& network,
                            const data::Normalizer& normalizer,
                            const data::Metadata& metadata) {
  constexpr double kLarge = 16, kSmall = 1.0 / 256;  // deviations
  const auto& known = metadata.statistics;
  if (network.inputs.size() != 1 || !normalizer.changes_nothing() || !known ||
      normalizes_input(network) || known->min.empty() ||
      nn::wanted_by(network, nn::layout_of(network)).inputs[0].tokens > 0)
    return "";
  const double widest = std::ranges::max(known->deviation());
  if (widest == 0 || (widest < kLarge && widest > kSmall)) return "";
  return "features are not normalized, and are from " +
         format("%.3g", std::ranges::min(known->min)) + " to " +
         format("%.3g", std::ranges::max(known->max)) +
         ": take --normalize standardize, with --fresh or in another --run; "
         "or ";
}

}  // namespace dl::cluster
