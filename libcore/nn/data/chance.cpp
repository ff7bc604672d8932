// Loss of a constant prediction (baseline).

#include "libcore/nn/data/chance.h"

#include <cmath>
#include <numbers>

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layers/loss.h"

namespace dl::nn {

namespace {

// Whether labels count 1 in the mean, as by "balanced", which makes each weight
// the inverse of a class's share of the labels.
bool are_balanced(const Settings& settings) {
  if (!settings.has("class_weights")) return true;
  const Json& weights = settings.at("class_weights");
  if (!weights.is_array()) return false;
  double shares = 0;
  for (const Json& weight : weights) shares += 1 / weight.get<double>();
  const auto classes = static_cast<double>(weights.size());
  return std::fabs(shares - classes) < 1e-6 * classes;
}

}  // namespace

std::optional<double> loss_of_chance(const NetworkConfig& network,
                                     const tensor::Shape& outputs,
                                     const data::Normalizer& targets,
                                     std::optional<double> label_weight) {
  if (network.outputs.size() != 1 || outputs.rank() != 1) return std::nullopt;
  const OutputSpec output = output_of(network);
  const LayerConfig& layer = network.layers[network.outputs[0]];
  if (output.loss.kind == tensor::Loss::kMeanSquaredError &&
      targets.kind == "standardize")
    return 1;
  if (!label_weight && !are_balanced(layer.settings)) return std::nullopt;
  const double weight = label_weight.value_or(1);
  const auto units = static_cast<double>(output.units);
  const bool softmax = output.activation.kind == tensor::Activation::kSoftmax ||
                       layers::is_from_logits(layer.settings);
  if (output.loss.kind == tensor::Loss::kNegativeLogLikelihood && units > 1 &&
      softmax)
    return weight * std::log(units);
  // With several outputs each has a weight, not each class.
  const bool weighted = layer.settings.has("class_weights");
  if (output.loss.kind == tensor::Loss::kBinaryCrossEntropy &&
      (label_weight || !(weighted && units > 1)))
    return weight * units * std::numbers::ln2;
  return std::nullopt;
}

}  // namespace dl::nn
