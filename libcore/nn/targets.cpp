#include "libcore/nn/targets.h"

#include <utility>

#include "libcore/base/error.h"
#include "libcore/nn/batch.h"

namespace dl::nn {
namespace {

// These look at differences alone, which scale as their targets do.
bool is_distance(tensor::Loss loss) {
  using tensor::Loss;
  return loss == Loss::kMeanSquaredError || loss == Loss::kMeanAbsoluteError ||
         loss == Loss::kL1 || loss == Loss::kL2 || loss == Loss::kHuber ||
         loss == Loss::kLogCosh;
}

// Another activation bounds what the output can be, and other losses are on
// probabilities, signs or proportions.
// data: what is called as the output is.
bool is_regression(const OutputSpec& last, const WantedOutput& wanted,
                   const data::Metadata& data) {
  const data::Field& labels = data.schema.at("labels");
  const bool named = !data.classes.empty() && !tensor::is_real(labels.dtype);
  return is_distance(last.loss.kind) &&
         last.activation.kind == tensor::Activation::kIdentity && !named &&
         !are_classes(labels.dtype, labels.shape.with_first(1), wanted.units,
                      wanted.places);
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error{Code::kConfig, "--normalize-targets standardize: " + what};
}

// Whether the input is to be brought to 0..1 rather than standardized: a loss
// of probabilities has it as its target.
bool wants_probabilities(const NetworkConfig& config, std::size_t input) {
  for (std::size_t i = 0; i < config.outputs.size(); ++i) {
    const tensor::Loss loss = output_of(config, i).loss.kind;
    if (config.layers[config.outputs[i]].target == input &&
        (loss == tensor::Loss::kBinaryCrossEntropy ||
         loss == tensor::Loss::kBinaryFocal))
      return true;
  }
  return false;
}

}  // namespace

std::vector<data::Normalizer> fit_inputs(std::string_view kind,
                                         const NetworkConfig& config,
                                         const data::Metadata& all) {
  std::vector<data::Normalizer> inputs;
  const bool automatic = kind == "auto";
  for (const WantedInput& input : wanted_by(config, layout_of(config)).inputs) {
    const data::Metadata part = all.part(input.part);
    const std::size_t i = inputs.size();
    inputs.push_back(automatic && input.tokens > 0
                         ? data::Normalizer{}
                         : data::Normalizer::fit(kind, part));
    if (!wants_probabilities(config, i)) continue;
    if (automatic && inputs[i].kind == "standardize")
      inputs[i] = data::Normalizer::fit("minmax", part);
    const auto& known = part.statistics;
    if (kind == "none" && known && known->count > 0 &&
        (std::ranges::min(known->min) < 0 || std::ranges::max(known->max) > 1))
      throw Error{
          Code::kConfig,
          "an output whose target is an input wants 0..1, the data have "
          "other values: use --normalize minmax"};
  }
  return inputs;
}

data::Normalizer fit_targets(std::string_view kind, const NetworkConfig& config,
                             const data::Metadata& all, std::string& note,
                             std::size_t output) {
  const bool automatic = kind == "auto";
  if (kind == "none") return {};
  if (!automatic && kind != "standardize")
    throw Error{Code::kConfig, "unknown normalizer of targets '" +
                                   std::string(kind) +
                                   "', want auto, none or standardize"};
  const WantedOutput wanted =
      wanted_by(config, layout_of(config)).outputs.at(output);
  if (wanted.target) return {};
  const data::Metadata data = all.part(wanted.part);
  const auto labels = data.schema.find("labels");
  if (labels == data.schema.end() ||
      !is_regression(output_of(config, output), wanted, data)) {
    if (automatic) return {};
    refuse(
        "want labels that are no classes, and an output layer with activation "
        "identity and loss mean_squared_error, mean_absolute_error, l1, l2, "
        "huber or log_cosh");
  }
  const auto& statistics = data.label_statistics;
  if (!statistics || statistics->count == 0 ||
      std::cmp_not_equal(statistics->mean.size(), wanted.units)) {
    const std::string why = "the data have no statistics of their labels";
    if (!automatic) refuse(why + "; pass them through dl-shard");
    note = why;
    note +=
        ", so the network learns them as they are; shards that dl-shard "
        "makes have them";
    return {};
  }
  return data::Normalizer::standard(*statistics, labels->second.dtype);
}

void aim_normalizers(const NetworkConfig& config,
                     data::Normalizers& normalizers) {
  normalizers.outputs.resize(config.outputs.size());
  for (std::size_t i = 0; i < config.outputs.size(); ++i) {
    const LayerConfig& layer = config.layers[config.outputs[i]];
    if (!layer.target || *layer.target >= config.inputs.size()) continue;
    normalizers.outputs[i] = normalizers.input(*layer.target);
    if (normalizers.outputs[i].kind == "standardize" &&
        wants_probabilities(config, *layer.target))
      throw Error{Code::kConfig,
                  "the target of '" + layer.name +
                      "' is standardized, its loss wants 0..1: use "
                      "--normalize minmax"};
  }
}

}  // namespace dl::nn
