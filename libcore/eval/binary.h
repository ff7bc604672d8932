// Yes or no for each output: a network with sigmoid outputs and several
// labels, or one label.
//
// Output j says yes where it reaches the threshold.  accuracy is over all
// decisions; NAME_macro is the mean over outputs, NAME_micro that of all
// decisions together; exact_match: all outputs of an example are right.
// log_loss: mean over examples of the sum over outputs of
// -t log p - (1 - t) log(1 - p), p and 1 - p not under 1e-10.

#ifndef DL_LIBCORE_EVAL_BINARY_H_
#define DL_LIBCORE_EVAL_BINARY_H_

#include "libcore/eval/counts.h"
#include "libcore/eval/evaluation_base.h"
#include "libcore/eval/exact_sum.h"

namespace dl::eval {

class Binary final : public EvaluationBase {
 public:
  // Settings: threshold (default 0.5).
  Binary(Subject subject, KindOptions settings);

  void print(std::ostream& out) const override;
  void read_state(const JsonView& state) override;

 protected:
  void add_example(std::span<const float> outputs, const Labels& labels,
                   std::int64_t i) override;
  void merge_same(const Evaluation& other) override;
  Metrics summary() const override;
  std::vector<Metrics> by_output() const override;
  Json state() const override;

 private:
  Binary(Subject subject, double threshold);

  float threshold_;  // as outputs are: 0.7 reaches 0.7
  std::vector<Counts> counts_;
  std::int64_t examples_ = 0, exact_ = 0;
  ExactSum log_loss_;
};

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_BINARY_H_
