// Real values: errors, R2 and Pearson correlation of each column, and their
// means over the columns.
//
// Everything but the absolute error follows from exact sums of y, t, y^2, t^2
// and y t; products of two floats are exact in a double.  So parts merge to
// the bit, and a large mean with a small spread costs no digit.

#ifndef DL_LIBCORE_EVAL_REGRESSION_H_
#define DL_LIBCORE_EVAL_REGRESSION_H_

#include "libcore/eval/evaluation_base.h"
#include "libcore/eval/exact_sum.h"

namespace dl::eval {

class Regression final : public EvaluationBase {
 public:
  Regression(Subject subject, const KindOptions& settings);  // it has none

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
  struct Column {  // y: output, t: target
    ExactSum y, t, yy, tt, yt, absolute;
  };
  Metrics measure(const Column& column) const;

  std::vector<Column> columns_;
  std::int64_t examples_ = 0;
};

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_REGRESSION_H_
