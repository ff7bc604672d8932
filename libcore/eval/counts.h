// The four counts of a yes-or-no decision, and the measures made of them.

#ifndef DL_LIBCORE_EVAL_COUNTS_H_
#define DL_LIBCORE_EVAL_COUNTS_H_

#include <cstdint>
#include <vector>

#include "libcore/eval/evaluation_base.h"

namespace dl::eval {

// Where a measure divides by zero it is NaN, and averages leave it out; only
// mcc is 0 then, as if the decision were made at random, but NaN where
// there was nothing to decide: no yes, and none said.
struct Counts {
  std::int64_t tp = 0, fp = 0, tn = 0, fn = 0;

  Counts& operator+=(const Counts& other);
  bool operator==(const Counts&) const = default;

  double total() const;
  double accuracy() const;   // (tp + tn) / total
  double precision() const;  // tp / (tp + fp)
  double recall() const;     // tp / (tp + fn)
  double f1() const;         // 2 tp / (2 tp + fp + fn)
  double mcc() const;        // Matthews correlation
};

// precision, recall, f1 and mcc as NAME_macro (mean over `all` of what is
// defined) and the first three as NAME_micro (of the sum of all counts).
void append_averages(Metrics& metrics, const std::vector<Counts>& all);

// precision, recall, f1, mcc and the counts themselves.
void append_measures(Metrics& metrics, const Counts& counts);

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_COUNTS_H_
