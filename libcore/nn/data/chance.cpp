#include "libcore/nn/data/chance.h"

#include <cmath>
#include <numbers>

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layers/loss.h"

namespace dl::nn {

std::optional<double> loss_of_chance(const NetworkConfig& network,
                                     const tensor::Shape& outputs,
                                     const data::Normalizer& targets) {
  if (network.outputs.size() != 1 || outputs.rank() != 1) return std::nullopt;
  const OutputSpec output = output_of(network);
  const LayerConfig& layer = network.layers[network.outputs[0]];
  if (output.loss.kind == tensor::Loss::kMeanSquaredError &&
      targets.kind == "standardize")
    return 1;
  if (layer.settings.has("class_weights")) return std::nullopt;
  const auto units = static_cast<double>(output.units);
  const bool softmax = output.activation.kind == tensor::Activation::kSoftmax ||
                       layers::is_from_logits(layer.settings);
  if (output.loss.kind == tensor::Loss::kNegativeLogLikelihood && units > 1 &&
      softmax)
    return std::log(units);
  if (output.loss.kind == tensor::Loss::kBinaryCrossEntropy &&
      output.loss.negative == 1 && output.loss.positive == 1)
    return units * std::numbers::ln2;
  return std::nullopt;
}

}  // namespace dl::nn
