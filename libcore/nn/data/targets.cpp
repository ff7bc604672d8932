// Normalization of features and targets.

#include "libcore/nn/data/targets.h"

#include <cmath>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/data/target_range.h"
#include "libcore/nn/data/target_source.h"

namespace dl::nn {
namespace {

// These look at differences alone, which scale as their targets do.
bool is_distance(device::Loss loss) {
  using device::Loss;
  return loss == Loss::kMeanSquaredError || loss == Loss::kMeanAbsoluteError ||
         loss == Loss::kL1 || loss == Loss::kL2 || loss == Loss::kHuber ||
         loss == Loss::kLogCosh || loss == Loss::kGaussian;
}

// Another activation bounds what the output can be, and other losses are on
// probabilities, signs or proportions.
// data: what is called as the output is.
bool is_regression(const OutputSpec& last, const WantedOutput& wanted,
                   const data::Metadata& data) {
  const data::Field& labels = data.schema.at("labels");
  const bool named = !data.classes.empty() && !tensor::is_real(labels.dtype);
  return is_distance(last.loss.kind) &&
         last.activation.kind == device::Activation::kIdentity && !named &&
         !are_classes(labels.dtype, labels.shape.with_first(1), wanted.units,
                      wanted.places);
}

[[noreturn]] void refuse_standardizing(const std::string& what) {
  throw Error{Code::kConfig, "--normalize-targets standardize: " + what};
}

// An output that is to be what went in.
struct Reconstruction {
  std::size_t output;
  TargetSource source;
  Bounds bounds;
};

std::vector<Reconstruction> bounded_reconstructions(
    const NetworkConfig& config) {
  std::vector<Reconstruction> all;
  for (std::size_t i = 0; i < config.outputs.size(); ++i) {
    const LayerConfig& layer = config.layers[config.outputs[i]];
    if (!layer.target || layer.type->output == nullptr) continue;
    if (const auto source = target_source(config, *layer.target))
      all.push_back({i, *source, bounds_of(output_of(config, i).loss.kind)});
  }
  return all;
}

// Whether these columns of what is known of an input, once normalized, may be
// targets; so may what nothing is known of.
bool within(const Reconstruction& made, const data::Normalizer& normalizer,
            const std::optional<data::Statistics>& known) {
  const auto at = [](const std::vector<double>& numbers, std::int64_t column) {
    return numbers[static_cast<std::size_t>(column) % numbers.size()];
  };
  if (!known || known->count == 0) return true;
  for (std::int64_t j = 0; j < made.source.width; ++j) {
    const std::int64_t c = made.source.first + j;
    const double shift = at(normalizer.shift, c),
                 scale = at(normalizer.scale, c);
    if (!((at(known->min, c) - shift) * scale >= made.bounds.least - 1e-6 &&
          (at(known->max, c) - shift) * scale <= made.bounds.most + 1e-6))
      return false;
  }
  return true;
}

std::string text_of(const Bounds& bounds) {
  return std::isfinite(bounds.most) ? "0..1" : "0 or more";
}

// Brings what the losses of outputs cannot have as their target to 0..1.
void bound(data::Normalizer& normalizer, std::size_t input,
           std::string_view kind, const NetworkConfig& config,
           const data::Metadata& data) {
  for (const Reconstruction& made : bounded_reconstructions(config)) {
    if (made.source.input != input || within(made, normalizer, data.statistics))
      continue;
    if (kind == "auto" && normalizer.kind == "standardize")
      normalizer = data::Normalizer::fit("minmax", data);
    else if (kind == "none")
      throw Error{Code::kConfig,
                  "an output whose target is an input wants " +
                      text_of(made.bounds) +
                      ", the data have other values: use --normalize minmax"};
  }
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
    bound(inputs[i], i, kind, config, part);
  }
  return inputs;
}

data::Normalizer fit_targets(std::string_view kind, const NetworkConfig& config,
                             const data::Metadata& all, std::string& note,
                             std::size_t output) {
  const bool automatic = kind == "auto";
  if (kind == "none") return {};
  if (!automatic && kind != "standardize")
    throw Error{Code::kUsage, "unknown normalizer of targets '" +
                                  displayed(kind) +
                                  "', want auto, none or standardize"};
  const WantedOutput wanted =
      wanted_by(config, layout_of(config)).outputs.at(output);
  if (wanted.target) return {};
  const data::Metadata data = all.part(wanted.part);
  const auto labels = data.schema.find("labels");
  if (labels == data.schema.end() ||
      !is_regression(output_of(config, output), wanted, data)) {
    if (automatic) return {};
    refuse_standardizing(
        "want labels that are no classes, and an output layer with activation "
        "identity and loss mean_squared_error, mean_absolute_error, l1, l2, "
        "huber or log_cosh");
  }
  const auto& statistics = data.label_statistics;
  if (!statistics || statistics->count == 0 ||
      std::cmp_not_equal(statistics->mean.size(), wanted.units)) {
    const std::string why = "the data have no statistics of their labels";
    if (!automatic) refuse_standardizing(why + "; pass them through dl-shard");
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
  for (const Reconstruction& made : bounded_reconstructions(config)) {
    data::Normalizer& own = normalizers.outputs[made.output];
    if (normalizers.input(made.source.input).mixes())
      throw Error{Code::kConfig,
                  "'" + config.layers[config.outputs[made.output]].name +
                      "' is to be its input, which --normalize pca and whiten "
                      "leave no columns of: use standardize or minmax"};
    own = part_of(normalizers.input(made.source.input), made.source);
    if (own.kind == "standardize" && !own.changes_nothing() &&
        std::isfinite(made.bounds.least))
      throw Error{Code::kConfig,
                  "the target of '" +
                      config.layers[config.outputs[made.output]].name +
                      "' is standardized, its loss wants " +
                      text_of(made.bounds) + ": use --normalize minmax"};
  }
}

}  // namespace dl::nn
