// The use of autoencoders beside predictions: new examples from codes that
// are drawn, and how likely an example is given its code.

#ifndef DL_LIBCORE_NN_PREDICT_LATENT_H_
#define DL_LIBCORE_NN_PREDICT_LATENT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "libcore/nn/model/model.h"
#include "libcore/nn/predict/prediction_writer.h"
#include "libcore/nn/predict/predictor.h"
#include "libcore/nn/predict/score.h"

namespace dl::nn {

// The part of a model from its code, a layer gaussian_latent, to its outputs.
// Throws Error: kUsage, there is no such layer, or several.
Model decoder_of(const Model& model);

// Writes what a decoder makes of n codes from N(0, 1), which follow from the
// seed alone.
void sample(const Model& decoder, std::int64_t n, std::uint64_t seed,
            const PredictorOptions& options, PredictionWriter& out);

struct ScoreOptions {
  std::int64_t samples = 1;  // codes of an example, where they are drawn
  std::uint64_t seed = 0;
  PredictorOptions predictor = {};
};

// Scores examples by their reconstruction: log p(x), estimated as the logarithm
// of the mean over codes z drawn for x of p(x|z) = exp(-loss), the loss of all
// outputs whose target is an input.  A model without gaussian_latent has one
// code.
class Scorer {
 public:
  // Throws Error: kUsage, no output has an input as its target, or a loss that
  // is computed with its activation alone.
  Scorer(const Model& model, const ScoreOptions& options);
  ~Scorer();

  // Reads the stream that `spec` names, or examples that come from elsewhere.
  // Throws Error: as Predictor::run(); what `take` throws.
  void run(const std::string& spec, const TakeScores& take);
  void run(data::Examples& examples, const TakeScores& take);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_PREDICT_LATENT_H_
