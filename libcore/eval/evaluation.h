// Evaluations: what a model's outputs are worth, in one pass, mergeable.
//
// merge() of the parts of a data set equals one pass over the whole, to the
// byte of to_json(), for any parts in any order: counts are integers, sums
// exact (exact_sum.h), and curves keep every score.  Not thread-safe.
//
//   classification  accuracy, top_N_accuracy, precision_macro, recall_macro,
//                   f1_macro, mcc_macro, precision_micro, recall_micro,
//                   f1_micro, mcc, log_loss; precision/CLASS, recall/CLASS, ...
//   binary          accuracy, exact_match, precision_macro, ..., log_loss;
//                   accuracy/OUTPUT, precision/OUTPUT, ...
//   roc             auc, average_precision; auc/OUTPUT, ...
//   regression      mse, rmse, mae, r2, correlation; mse/COLUMN, ...
//   forecast        mae, rmse, smape, mase; naive_mae, ..., seasonal_mae, ...;
//                   mae/COLUMN, ...
//   calibration     ece, mce, ece_classwise, brier; ece/OUTPUT, ...
//
// and each has `examples`.  The headers of the kinds define them.

#ifndef DL_LIBCORE_EVAL_EVALUATION_H_
#define DL_LIBCORE_EVAL_EVALUATION_H_

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/tensor/tensor.h"

namespace dl::eval {

// The subject of an evaluation: the names are for people, `outputs` is what
// counts.
struct Subject {
  std::int64_t outputs = 0;        // columns of the predictions
  std::vector<std::string> names;  // of classes or targets; may be empty
  std::string output = {};         // of several, which; "": the only one
  bool probabilities = true;       // outputs are from 0 to 1
};

class Evaluation {
 public:
  virtual ~Evaluation() = default;

  virtual std::string_view kind() const = 0;    // "classification", "roc", ...
  virtual std::string_view output() const = 0;  // as Subject
  // Full name of a metric or kind `name` among those of other outputs:
  // "digit:accuracy"; of the only output, "accuracy".
  std::string called(std::string_view name) const;

  // predictions: kF32 [n, outputs].  labels: classes [n] or values [n,
  // outputs].  mask: [n], 0 leaves an example out, anything else counts it
  // once; or null.  For sequences all have steps as their second dimension
  // (mask may), and each step counts as an example; the pixels of images the
  // same. Throws Error: kData, shapes or labels do not fit, or "the model's
  // output for example 17 is not finite" (numbered from 0, the first one given
  // to this object).  The examples before it have been counted.
  virtual void add(const tensor::Tensor& predictions,
                   const tensor::Tensor& labels,
                   const tensor::Tensor* mask) = 0;

  // Throws Error: kData, `other` is of another kind, subject or settings.
  virtual void merge(const Evaluation& other) = 0;

  // Metrics by name: "accuracy", "f1_macro", "auc", "recall/cat" or "recall/3".
  // NaN where the data does not define it.  Throws Error: kUsage, there is no
  // such metric (naming the nearest).  metrics() lists those without '/'.
  virtual double metric(std::string_view name) const = 0;
  virtual std::vector<std::string> metrics() const = 0;

  // A screen for people.
  virtual void print(std::ostream& out) const = 0;

  // "metrics" for readers and "state" for merge(); evaluation_from_json()
  // gives an equal evaluation.
  virtual Json to_json() const = 0;
};

// kind: classification[:top=N,threshold=P], binary[:threshold=P],
// roc[:steps=N], regression, calibration[:bins=N], forecast[:season=N,...].
// Throws Error: kUsage.
std::unique_ptr<Evaluation> make_evaluation(std::string_view kind,
                                            const Subject& subject);
// Throws Error: the view's code or kData.
std::unique_ptr<Evaluation> evaluation_from_json(const JsonView& json);

// The metric `name` of whichever of `all` has it; "digit:accuracy" is that of
// output digit, a bare name that of the only output that has it.
// Throws Error{kUsage}.
double find_metric(const std::vector<std::unique_ptr<Evaluation>>& all,
                   std::string_view name);
// Whether more is better: false for losses and errors.
bool higher_is_better(std::string_view metric);
// The one that stands for an evaluation where only one is shown.
std::string main_metric(const Evaluation& evaluation);
// The main metric, and for classes also log_loss: the loss beside what is
// counted.
std::vector<std::string> main_metrics(const Evaluation& evaluation);

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_EVALUATION_H_
