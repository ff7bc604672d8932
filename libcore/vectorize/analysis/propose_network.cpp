#include "libcore/vectorize/analysis/propose_network.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/vectorize/analysis/series_network.h"

namespace dl::vectorize {
namespace {

// Few examples are seen more often, as it is steps that teach: about 2000, with
// larger mini-batches of many examples.  More of them overfit small tables, and
// fewer epochs leave large ones half learnt.
constexpr std::int64_t kSteps = 2000, kLeastEpochs = 40, kMostEpochs = 200;
constexpr std::int64_t kLeastBatch = 32, kMostBatch = 256, kBatches = 80;

std::int64_t batch_for(std::int64_t examples) {
  std::int64_t batch = kLeastBatch;
  while (batch < kMostBatch && examples / batch >= kBatches) batch *= 2;
  return batch;
}

std::int64_t epochs_for(std::int64_t examples, std::int64_t batch) {
  return std::clamp(kSteps * batch / std::max<std::int64_t>(examples, 1),
                    kLeastEpochs, kMostEpochs);
}

Json output_layer(const data::Metadata& metadata) {
  const auto labels = metadata.schema.find("labels");
  if (labels == metadata.schema.end())
    bad_usage(
        "--network: the examples have no labels, so there is nothing to "
        "predict");
  const data::Field& field = labels->second;
  if (field.shape.rank() == 0 && !tensor::is_real(field.dtype))
    return {{"type", "output"},
            {"units", std::max<std::int64_t>(std::ssize(metadata.classes), 1)},
            {"activation", "softmax"},
            {"loss", "negative_log_likelihood"}};
  if (field.shape.rank() > 1)
    bad_usage("--network: labels are " + field.shape.to_string() +
              ", want a class or a row of numbers for each example");
  return {{"type", "output"},
          {"units", field.shape.elements()},
          {"activation", "identity"},
          {"loss", "mean_squared_error"}};
}

Json row_network(std::int64_t width, const Json& output) {
  const Json hidden = {
      {"type", "dense"}, {"units", 100}, {"activation", "relu"}};
  const Json dropout = {{"type", "dropout"}, {"rate", 0.1}};
  return {{"input", {{"shape", Json::array({width})}}},
          {"layers", Json::array({hidden, dropout, output})}};
}

}  // namespace

ProposedNetwork propose_network(const data::Metadata& metadata,
                                std::int64_t examples) {
  const auto features = metadata.schema.find("features");
  const bool is_row =
      features != metadata.schema.end() && features->second.shape.rank() == 1;
  if (!is_row && !is_of_series(metadata))
    bad_usage(
        "--network: want examples that are one row of numbers, as those of a "
        "table are, or windows of series");
  const std::int64_t batch = batch_for(examples);
  const std::int64_t epochs = epochs_for(examples, batch);
  const Json rate = {{"schedule", "cosine"},
                     {"by", "epoch"},
                     {"initial", 0.002},
                     {"final", 0.00002},
                     {"limit", epochs}};
  Json network = {
      {"seed", 1},
      {"updater",
       {{"type", "adamw"}, {"learning_rate", rate}, {"weight_decay", 0.1}}}};
  const Json output = output_layer(metadata);
  network.update(is_of_series(metadata)
                     ? series_network(metadata, output)
                     : row_network(features->second.shape[0], output));
  return {network, epochs, batch};
}

}  // namespace dl::vectorize
