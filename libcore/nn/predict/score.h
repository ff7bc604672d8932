// Scores of examples: how likely each is by a model; low ones are anomalies.

#ifndef DL_LIBCORE_NN_PREDICT_SCORE_H_
#define DL_LIBCORE_NN_PREDICT_SCORE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "libcore/data/examples.h"
#include "libcore/nn/model/model.h"
#include "libcore/nn/predict/predictor.h"

namespace dl::nn {

struct ScoredExample {
  std::int64_t index = 0;
  std::optional<std::string> id;
  double score = 0;  // minus infinity: it is impossible
};
// Given the examples of a mini-batch.
using TakeScores = std::function<void(const std::vector<ScoredExample>&)>;

// Scores of the examples of a mini-batch, of which `seen` were before it.
// Throws Error: kData, one is not a number.
std::vector<ScoredExample> scored(const data::DataSet& set,
                                  std::vector<double> scores,
                                  std::int64_t seen);

// {"index":0,"id":"a.png","score":-71.5}; with a threshold also "anomaly",
// whether the score is below it.
std::string line_of(const ScoredExample& example,
                    std::optional<double> threshold);

// The score that a share of these is below, on the line between neighbors.
double quantile_of(std::vector<double> scores, double share);

// Scores examples by the error of a model that predicts numbers: minus the mean
// square of what it is off, in deviations of the target in the training data,
// if these were standardized.
class ForecastScorer {
 public:
  // options: labels are needed.  Throws Error: kUsage, the model has several
  // outputs, or classes.
  ForecastScorer(const Model& model, const PredictorOptions& options);

  // Throws Error: as Predictor::run(); what `take` throws.
  void run(const std::string& spec, const TakeScores& take);
  void run(data::Examples& examples, const TakeScores& take);

 private:
  void add(const data::DataSet& set, const std::vector<Prediction>& outputs,
           const TakeScores& take);

  data::Normalizer normalizer_;
  Predictor predictor_;
  std::int64_t seen_ = 0;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_PREDICT_SCORE_H_
