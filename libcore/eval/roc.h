// Areas under the ROC curve and the precision-recall curve of each output: of
// a single score, of several labels, or of each class against the rest.
//
// auc, average_precision and best_f1 are means over the outputs that have
// positives and negatives.  Ties are one step of the curve, so no order of
// equal scores matters.  By default every score is kept (4 bytes for each
// example and output); steps=N keeps counts at N + 1 thresholds instead.

#ifndef DL_LIBCORE_EVAL_ROC_H_
#define DL_LIBCORE_EVAL_ROC_H_

#include "libcore/eval/evaluation_base.h"
#include "libcore/eval/scores.h"

namespace dl::eval {

class Roc final : public EvaluationBase {
 public:
  // Settings: steps (0 = exact, the default).
  Roc(const Subject& subject, KindOptions settings);

  void print(std::ostream& out) const override;
  void read_state(const JsonView& state) override;

 protected:
  void add_example(std::span<const float> outputs, const Labels& labels,
                   std::int64_t i) override;
  void merge_same(const Evaluation& other) override;
  Metrics summary() const override;
  std::vector<Metrics> by_output() const override;
  Json details() const override;
  Json state() const override;

 private:
  Roc(Subject subject, std::int64_t steps);

  std::int64_t steps_;
  std::vector<Scores> scores_;  // by output
};

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_ROC_H_
