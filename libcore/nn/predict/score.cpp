#include "libcore/nn/predict/score.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/nn/data/target_source.h"
#include "libcore/nn/layers/parts/loss.h"

namespace dl::nn {

std::vector<ScoredExample> scored(const data::DataSet& set,
                                  std::vector<double> scores,
                                  std::int64_t seen) {
  const tensor::Tensor* index = set.find("index");
  const tensor::Tensor* id = set.find("id");
  std::vector<ScoredExample> all;
  for (std::int64_t i = 0; i < set.examples(); ++i) {
    ScoredExample example;
    example.score = scores[static_cast<std::size_t>(i)];
    if (std::isnan(example.score) ||
        (std::isinf(example.score) && example.score > 0))
      throw Error{Code::kData, "the score of example " +
                                   std::to_string(seen + i) + " is not finite"};
    example.index = index != nullptr
                        ? static_cast<std::int64_t>(index->value(i))
                        : seen + i;
    if (id != nullptr) example.id = data::id_text(*id, i);
    all.push_back(std::move(example));
  }
  return all;
}

std::string line_of(const ScoredExample& example,
                    std::optional<double> threshold) {
  std::string line = "{\"index\":" + std::to_string(example.index);
  if (example.id) line += ",\"id\":" + dump_json(*example.id);
  line += ",\"score\":" +
          (std::isinf(example.score) ? "null" : dump_json(example.score));
  if (threshold)
    line += std::string(",\"anomaly\":") +
            (example.score < *threshold ? "true" : "false");
  return line + "}\n";
}

double quantile_of(std::vector<double> scores, double share) {
  require(!scores.empty(), "a quantile of nothing");
  std::ranges::sort(scores);
  const double place = share * static_cast<double>(scores.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, scores.size() - 1);
  if (scores[below] == scores[above]) return scores[below];
  return scores[below] +
         (place - static_cast<double>(below)) * (scores[above] - scores[below]);
}

ForecastScorer::ForecastScorer(const Model& model,
                               const PredictorOptions& options)
    : normalizer_(model.normalizers.output(0)), predictor_(model, options) {
  const bool is_of_numbers = model.config.outputs.size() == 1 &&
                             output_of(model.config, 0).activation.kind !=
                                 device::Activation::kSoftmax &&
                             !are_classes(model.data, model.config, 0);
  if (!is_of_numbers)
    throw Error{Code::kUsage,
                "--score forecast is for models of one output that predicts "
                "numbers"};
}

void ForecastScorer::add(const data::DataSet& set,
                         const std::vector<Prediction>& outputs,
                         const TakeScores& take) {
  tensor::Tensor room;
  const tensor::Tensor& made = outputs[0].values;
  Network& network = predictor_.network();
  const tensor::Tensor& labels =
      network.labels(network.batch_of(set), 0, made, room);
  const std::int64_t n = set.examples(), each = made.elements() / n;
  if (labels.elements() != made.elements())
    throw Error{Code::kData, "there are " + std::to_string(labels.elements()) +
                                 " labels for " +
                                 std::to_string(made.elements()) + " outputs"};
  const std::size_t columns = normalizer_.scale.size();
  std::vector<double> scores;
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < each; ++j) {
      const std::int64_t place = i * each + j;
      const double scale =
          columns == 0
              ? 1
              : normalizer_.scale[static_cast<std::size_t>(j) % columns];
      const double off = (made.value(place) - labels.value(place)) * scale;
      sum += off * off;
    }
    scores.push_back(-sum / static_cast<double>(each));
  }
  take(scored(set, std::move(scores), seen_));
  seen_ += n;
}

void ForecastScorer::run(const std::string& spec, const TakeScores& take) {
  predictor_.run(
      spec, [](const data::Metadata&) {},
      [&](const data::DataSet& set, const std::vector<Prediction>& outputs) {
        add(set, outputs, take);
      });
}

void ForecastScorer::run(data::Examples& examples, const TakeScores& take) {
  predictor_.run(
      examples, [](const data::Metadata&) {},
      [&](const data::DataSet& set, const std::vector<Prediction>& outputs) {
        add(set, outputs, take);
      });
}

}  // namespace dl::nn
