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

}  // namespace

std::vector<data::Normalizer> fit_inputs(std::string_view kind,
                                         const NetworkConfig& config,
                                         const data::Metadata& all) {
  std::vector<data::Normalizer> inputs;
  for (const WantedInput& input :
       wanted_by(config, layout_of(config)).inputs) {
    const bool as_it_is = kind == "auto" && input.tokens > 0;
    inputs.push_back(as_it_is
                         ? data::Normalizer{}
                         : data::Normalizer::fit(kind, all.part(input.part)));
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

}  // namespace dl::nn
