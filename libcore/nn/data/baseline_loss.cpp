// Losses of constant predictions (baselines).

#include "libcore/nn/data/baseline_loss.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/data/class_weights.h"
#include "libcore/nn/layers/parts/loss.h"

namespace dl::nn {

namespace {

// Whether labels count 1 in the mean, as by "balanced", which makes each weight
// the inverse of a class's share of the labels.
bool are_balanced(const LayerSettings& settings) {
  if (!settings.has("class_weights")) return true;
  const Json& weights = settings.at("class_weights");
  if (!weights.is_array()) return false;
  double shares = 0;
  for (const Json& weight : weights) shares += 1 / weight.get<double>();
  const auto classes = static_cast<double>(weights.size());
  return std::fabs(shares - classes) < 1e-6 * classes;
}

const LayerSettings& settings_of_output(const NetworkConfig& network) {
  return network.layers[network.outputs[0]].settings;
}

// The loss of labels that count so much by kind, if each kind is predicted by
// its share of that.
struct Entropy {
  double loss = 0, squares = 0;  // sums over the kinds
};

// shares: of the kinds among labels.  weights: what a label of each counts.
Entropy entropy_of(const std::vector<double>& shares,
                   const std::vector<double>& weights) {
  const double all =
      std::inner_product(shares.begin(), shares.end(), weights.begin(), 0.0);
  Entropy entropy;
  for (std::size_t c = 0; c < shares.size(); ++c) {
    if (!(shares[c] * weights[c] > 0)) continue;
    const double loss = -weights[c] * std::log(shares[c] * weights[c] / all);
    entropy.loss += shares[c] * loss;
    entropy.squares += shares[c] * loss * loss;
  }
  return entropy;
}

// Labels smoothed as training does.
std::vector<double> smoothed(std::vector<double> shares, double smoothing) {
  const auto kinds = static_cast<double>(shares.size());
  for (double& share : shares)
    share = (1 - smoothing) * share + smoothing / kinds;
  return shares;
}

// The share of the class that counts most, of several the smallest.
double accuracy_of(const std::vector<double>& shares,
                   const std::vector<double>& weights) {
  constexpr double kAsMuch = 0.98;
  double most = 0, accuracy = 1;
  for (std::size_t c = 0; c < shares.size(); ++c)
    most = std::max(most, shares[c] * weights[c]);
  for (std::size_t c = 0; c < shares.size(); ++c)
    if (shares[c] * weights[c] >= kAsMuch * most)
      accuracy = std::min(accuracy, shares[c]);
  return accuracy;
}

BestConstant of_kinds(const std::vector<double>& counts,
                      const std::vector<double>& weights, double smoothing) {
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  std::vector<double> shares = counts;
  for (double& share : shares) share /= all;
  const Entropy entropy = entropy_of(smoothed(shares, smoothing), weights);
  const double variance = entropy.squares - entropy.loss * entropy.loss;
  return {entropy.loss, std::sqrt(std::max(0.0, variance) / all),
          accuracy_of(shares, weights)};
}

}  // namespace

double loss_weight_of(const NetworkConfig& network) {
  const LayerSettings& settings = settings_of_output(network);
  return settings.has("loss_weight") ? settings.number("loss_weight") : 1;
}

std::optional<BestConstant> best_constant(const NetworkConfig& network,
                                          const data::Metadata& data,
                                          const EachRecord& records) {
  if (network.outputs.size() != 1) return std::nullopt;
  const LayerSettings& settings = settings_of_output(network);
  const WantedOutput output = wanted_by(network, layout_of(network)).outputs[0];
  const device::LossSpec spec = layers::loss_of(settings);
  const bool softmax = output.loss == device::Loss::kNegativeLogLikelihood;
  const bool binary = output.loss == device::Loss::kBinaryCrossEntropy;
  const bool two = binary && output.units == 1;
  if ((!softmax && !two) || !has_classes(data, output)) return std::nullopt;
  const auto kinds = static_cast<std::size_t>(two ? 2 : output.units);
  std::vector<double> counts(kinds), weights(kinds, 1.0);
  if (two)
    weights = {spec.negative, spec.positive};
  else if (settings.has("class_weights"))
    weights = settings.at("class_weights").get<std::vector<double>>();
  if (weights.size() != kinds) return std::nullopt;
  records(
      [&](const data::DataSet& set) { count_classes(set, output, counts); });
  if (std::ranges::all_of(counts, [](double n) { return n == 0; }))
    return std::nullopt;
  BestConstant best = of_kinds(counts, weights, spec.smoothing);
  best.loss *= loss_weight_of(network);
  best.error *= loss_weight_of(network);
  return best;
}

std::optional<double> loss_of_chance(const NetworkConfig& network,
                                     const tensor::Shape& outputs,
                                     const data::Normalizer& targets,
                                     std::optional<double> label_weight) {
  if (network.outputs.size() != 1 || outputs.rank() != 1) return std::nullopt;
  const OutputSpec output = output_of(network);
  const double counts = loss_weight_of(network);
  if (!(counts > 0)) return std::nullopt;
  const LayerConfig& layer = network.layers[network.outputs[0]];
  if (output.loss.kind == device::Loss::kMeanSquaredError &&
      targets.kind == "standardize")
    return counts;
  if (!label_weight && !are_balanced(layer.settings)) return std::nullopt;
  const double weight = counts * label_weight.value_or(1);
  const auto units = static_cast<double>(output.units);
  const bool softmax = output.activation.kind == device::Activation::kSoftmax ||
                       layers::is_from_logits(layer.settings);
  if (output.loss.kind == device::Loss::kNegativeLogLikelihood && units > 1 &&
      softmax)
    return weight * std::log(units);
  // With several outputs each has a weight, not each class.
  const bool weighted = layer.settings.has("class_weights");
  if (output.loss.kind == device::Loss::kBinaryCrossEntropy &&
      (label_weight || !(weighted && units > 1)))
    return weight * units * std::numbers::ln2;
  return std::nullopt;
}

}  // namespace dl::nn
