// Losses of constant predictions (baselines).

#include "libcore/nn/data/baseline_loss.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <vector>

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/data/class_weights.h"
#include "libcore/nn/layers/parts/loss.h"

namespace dl::nn {

namespace {

using device::Loss;

// Outputs that have a loss.
std::vector<std::size_t> learning_outputs(const NetworkConfig& network) {
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < network.outputs.size(); ++i)
    if (network.layers[network.outputs[i]].type->output != nullptr)
      some.push_back(i);
  return some;
}

const LayerSettings& settings_of(const NetworkConfig& network,
                                 std::size_t output) {
  return network.layers[network.outputs[output]].settings;
}

double loss_weight_of(const LayerSettings& settings) {
  return settings.has("loss_weight") ? settings.number("loss_weight") : 1;
}

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

// The mask of the targets: the output's own, or of the one input whose padding
// is the output's; "": none.
std::string mask_of(const Wanted& wanted, std::size_t output,
                    const std::function<bool(const std::string&)>& is_there) {
  const WantedOutput& of = wanted.outputs[output];
  if (is_there(of.mask)) return of.mask;
  if (of.places.rank() == 0 || of.mask_inputs.size() != 1) return "";
  const std::string& padding = wanted.inputs[of.mask_inputs[0]].mask;
  return is_there(padding) ? padding : "";
}

// Sums over the targets of an output as training has them: normalized, classes
// one-hot, padding left out.
class TargetSums {
 public:
  TargetSums(const NetworkConfig& network, const data::Normalizers& normalizers,
             std::size_t output)
      : wanted_(wanted_by(network, layout_of(network))),
        index_(output),
        output_(wanted_.outputs[output]),
        sums_(static_cast<std::size_t>(output_.units)),
        squares_(sums_.size()) {
    if (!output_.source) {
      normalizer_ = normalizers.output(output);
      return;
    }
    const data::Normalizer whole = normalizers.input(output_.source->input);
    mixes_ = whole.mixes();
    if (!mixes_) normalizer_ = part_of(whole, *output_.source);
  }

  // Whether the targets are labels of equal weight, or numbers of an input.
  bool known(const data::Metadata& data) const {
    if (output_.source) return !mixes_;
    const auto mask = data.schema.find(output_.mask);
    return !output_.target &&
           (mask == data.schema.end() || !tensor::is_real(mask->second.dtype));
  }

  void add(const data::DataSet& set) {
    const tensor::Tensor* const values =
        set.find(output_.source ? output_.target_tensor : output_.tensor);
    if (values == nullptr || values->elements() == 0) return;
    const bool classes =
        !output_.source && are_classes(values->dtype(), values->shape(),
                                       output_.units, output_.places);
    const std::int64_t examples = values->shape()[0];
    const std::int64_t places = output_.places.elements();
    const std::string name = mask_of(
        wanted_, index_,
        [&](const std::string& mask) { return set.find(mask) != nullptr; });
    const tensor::Tensor* const mask = set.find(name);
    // One number for each target, or for each example.
    const std::int64_t apart =
        mask != nullptr && mask->elements() == examples ? places : 1;
    for (std::int64_t t = 0; t < examples * places; ++t)
      if (mask == nullptr || mask->value(t / apart) != 0)
        add(*values, t, classes);
    examples_ += static_cast<double>(examples);
  }

  // Targets: one for each place of an example, such as steps.
  double count() const { return count_; }
  double in_example() const { return count_ / examples_; }
  std::size_t units() const { return sums_.size(); }
  double mean(std::size_t unit) const { return sums_[unit] / count_; }
  double variance(std::size_t unit) const {
    return std::max(0.0, squares_[unit] / count_ - mean(unit) * mean(unit));
  }

 private:
  void add(const tensor::Tensor& values, std::int64_t target, bool classes) {
    ++count_;
    if (classes) return add_class(values.value(target));
    for (std::size_t u = 0; u < units(); ++u) {
      const std::int64_t i =
          target * output_.units + static_cast<std::int64_t>(u);
      const auto column = static_cast<std::size_t>(i);
      const double value =
          (values.value(output_.source ? output_.source->place(i) : i) -
           normalizer_.shift[column % normalizer_.shift.size()]) *
          normalizer_.scale[column % normalizer_.scale.size()];
      sums_[u] += value;
      squares_[u] += value * value;
    }
  }

  // One-hot; of a single output, how much it is the second class.
  void add_class(double kind) {
    if (units() == 1 && kind != 1) return;
    const double at = units() == 1 ? 0 : kind;
    if (!(at >= 0 && at < static_cast<double>(units()))) return;
    ++sums_[static_cast<std::size_t>(at)];
    ++squares_[static_cast<std::size_t>(at)];
  }

  Wanted wanted_;
  std::size_t index_;
  WantedOutput output_;
  data::Normalizer normalizer_;
  bool mixes_ = false;
  double examples_ = 0, count_ = 0;
  std::vector<double> sums_, squares_;
};

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

// Without smoothing.  Nothing if classes have different weights.
std::optional<double> log_loss_of(const std::vector<double>& shares,
                                  const std::vector<double>& weights) {
  if (std::ranges::adjacent_find(weights, std::not_equal_to()) != weights.end())
    return std::nullopt;
  return entropy_of(shares, std::vector<double>(shares.size(), 1)).loss;
}

// Mean over the targets.
BestConstant of_kinds(const std::vector<double>& shares,
                      const std::vector<double>& weights, double smoothing,
                      double count) {
  const Entropy entropy = entropy_of(smoothed(shares, smoothing), weights);
  const double variance = entropy.squares - entropy.loss * entropy.loss;
  return {entropy.loss, std::sqrt(std::max(0.0, variance) / count),
          accuracy_of(shares, weights), log_loss_of(shares, weights)};
}

std::vector<double> weights_of(const LayerSettings& settings,
                               std::size_t units) {
  std::vector<double> weights(units, 1.0);
  if (settings.has("class_weights") &&
      settings.at("class_weights").is_array() &&
      settings.at("class_weights").size() == units)
    weights = settings.at("class_weights").get<std::vector<double>>();
  return weights;
}

BestConstant of_probabilities(const TargetSums& sums,
                              const LayerSettings& settings) {
  const device::LossSpec spec = layers::loss_of(settings);
  const std::vector<double> weights = weights_of(settings, sums.units());
  BestConstant best;
  for (std::size_t u = 0; u < sums.units(); ++u) {
    const double yes = std::clamp(sums.mean(u), 0.0, 1.0);
    const double weight = sums.units() > 1 ? weights[u] : 1;
    const BestConstant one = of_kinds(
        {1 - yes, yes}, {weight * spec.negative, weight * spec.positive},
        spec.smoothing, sums.count());
    best.loss += one.loss;
    best.error += one.error;
    if (sums.units() > 1) continue;
    best.accuracy = one.accuracy;
    best.log_loss = one.log_loss;
  }
  return best;
}

BestConstant of_squares(const TargetSums& sums, const LayerSettings& settings,
                        bool mean) {
  const std::vector<double> weights = weights_of(settings, sums.units());
  BestConstant best;
  for (std::size_t u = 0; u < sums.units(); ++u)
    best.loss += weights[u] * sums.variance(u);
  if (mean) best.loss /= static_cast<double>(sums.units());
  best.error = best.loss * std::sqrt(2 / sums.count());
  return best;
}

std::optional<BestConstant> of_targets(const TargetSums& sums,
                                       const LayerSettings& settings) {
  const device::LossSpec spec = layers::loss_of(settings);
  if (spec.kind == Loss::kBinaryCrossEntropy)
    return of_probabilities(sums, settings);
  if (spec.kind == Loss::kMeanSquaredError || spec.kind == Loss::kL2)
    return of_squares(sums, settings, spec.kind == Loss::kMeanSquaredError);
  if (spec.kind != Loss::kNegativeLogLikelihood) return std::nullopt;
  std::vector<double> shares(sums.units());
  for (std::size_t u = 0; u < shares.size(); ++u) shares[u] = sums.mean(u);
  return of_kinds(shares, weights_of(settings, sums.units()), spec.smoothing,
                  sums.count());
}

// Factor of the loss of a target in that of the network.
double factor_of(const LayerSettings& settings, double in_example) {
  return loss_weight_of(settings) *
         (layers::is_over_steps(settings) ? 1 : in_example);
}

// The loss of one target, by chance.
std::optional<double> chance_of(const OutputSpec& output,
                                const LayerSettings& settings,
                                const data::Normalizer& targets,
                                const std::optional<LabelCount>& count) {
  if (output.loss.kind == Loss::kMeanSquaredError &&
      targets.kind == "standardize")
    return 1;
  if (!count && !are_balanced(settings)) return std::nullopt;
  const double weight = count ? count->weight : 1;
  const auto units = static_cast<double>(output.units);
  const bool softmax = output.activation.kind == device::Activation::kSoftmax ||
                       layers::is_from_logits(settings);
  if (output.loss.kind == Loss::kNegativeLogLikelihood && units > 1 && softmax)
    return weight * std::log(units);
  // With several outputs each has a weight, not each class.
  const bool weighted = settings.has("class_weights");
  if (output.loss.kind == Loss::kBinaryCrossEntropy &&
      (count || !(weighted && units > 1)))
    return weight * units * std::numbers::ln2;
  return std::nullopt;
}

double places_in(const NetworkConfig& network, const Layout& layout,
                 std::size_t output) {
  const tensor::Shape& shape =
      layout.layers[network.outputs[output]].output.shape;
  return static_cast<double>(places_of(shape).elements());
}

}  // namespace

std::optional<LabelCount> count_labels(const NetworkConfig& network,
                                       const data::Metadata& data,
                                       const EachRecord& records) {
  if (network.outputs.size() != 1 || learning_outputs(network).empty())
    return std::nullopt;
  const LayerSettings& settings = settings_of(network, 0);
  LabelCount count;
  if (settings.has("class_weights")) {
    const auto weight = mean_label_weight(network, data, records);
    if (!weight) return std::nullopt;
    count.weight = *weight;
  }
  const Wanted wanted = wanted_by(network, layout_of(network));
  const std::string mask = mask_of(wanted, 0, [&](const std::string& name) {
    return data.schema.contains(name);
  });
  if (mask.empty() || wanted.outputs[0].places.rank() == 0) return count;
  TargetSums sums(network, {}, 0);
  records([&](const data::DataSet& set) { sums.add(set); });
  if (sums.count() > 0) count.in_example = sums.in_example();
  return count;
}

std::optional<BestConstant> best_constant(const NetworkConfig& network,
                                          const data::Metadata& data,
                                          const data::Normalizers& normalizers,
                                          const EachRecord& records) {
  const std::vector<std::size_t> outputs = learning_outputs(network);
  std::vector<TargetSums> all;
  for (const std::size_t i : outputs) {
    all.emplace_back(network, normalizers, i);
    if (!all.back().known(data)) return std::nullopt;
  }
  records([&](const data::DataSet& set) {
    for (TargetSums& sums : all) sums.add(set);
  });
  BestConstant best;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const LayerSettings& settings = settings_of(network, outputs[i]);
    if (all[i].count() == 0) return std::nullopt;
    const auto one = of_targets(all[i], settings);
    if (!one) return std::nullopt;
    const double factor = factor_of(settings, all[i].in_example());
    best.loss += factor * one->loss;
    best.error += factor * one->error;
    if (network.outputs.size() > 1) continue;
    best.accuracy = one->accuracy;
    best.log_loss = one->log_loss;
  }
  if (all.empty()) return std::nullopt;
  return best;
}

std::optional<double> loss_of_chance(const NetworkConfig& network,
                                     const data::Normalizers& normalizers,
                                     std::optional<LabelCount> count) {
  const std::vector<std::size_t> outputs = learning_outputs(network);
  const Layout layout = layout_of(network);
  double sum = 0;
  for (const std::size_t i : outputs) {
    const LayerSettings& settings = settings_of(network, i);
    const auto one = chance_of(output_of(network, i), settings,
                               normalizers.output(i), count);
    if (!one) return std::nullopt;
    const double places = places_in(network, layout, i);
    sum += *one * factor_of(settings, count ? count->in_example.value_or(places)
                                            : places);
  }
  if (!(sum > 0)) return std::nullopt;
  return sum;
}

double accuracy_of_chance(const NetworkConfig& network,
                          const std::string& metric) {
  for (const std::size_t i : learning_outputs(network)) {
    const std::string& name = network.layers[network.outputs[i]].name;
    if (!metric.ends_with("accuracy") ||
        (network.outputs.size() > 1 && !metric.starts_with(name + ":")))
      continue;
    const OutputSpec output = output_of(network, i);
    const auto units = static_cast<double>(output.units);
    if (output.loss.kind == Loss::kNegativeLogLikelihood) return 1 / units;
    if (output.loss.kind == Loss::kBinaryCrossEntropy) return std::exp2(-units);
  }
  return 0;
}

std::int64_t target_size(const NetworkConfig& network) {
  const Layout layout = layout_of(network);
  std::int64_t size = 0;
  for (const std::size_t i : learning_outputs(network))
    size += layout.layers[network.outputs[i]].output.shape.elements();
  return std::max<std::int64_t>(1, size);
}

}  // namespace dl::nn
