// Areas under the ROC and precision-recall curves of one score, and its best
// threshold.

#ifndef DL_LIBCORE_EVAL_CURVE_H_
#define DL_LIBCORE_EVAL_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcore/base/json.h"

namespace dl::eval {

// The examples of one score, or of one interval of scores: what a threshold
// cannot tell apart.
struct Step {
  std::int64_t positives = 0, negatives = 0;
  float score = 0;  // the threshold that all of them reach
};

// All take the steps from the highest score to the lowest and are NaN where
// one of the two kinds is missing.  Sums of all counts stay under 2^62.

// The chance that a positive scores over a negative, ties counting half:
// exact, rounded once.
double roc_auc(const std::vector<Step>& steps);

// Sum over the steps of precision times the growth of recall.  This area is a
// sum of rectangles: no interpolation, which would be too optimistic.
double average_precision(const std::vector<Step>& steps);

// The highest F1 of a decision that says yes where the score reaches a
// threshold, and that threshold, the lowest one of equals.
struct BestF1 {
  double f1 = 0, threshold = 0;
};
BestF1 best_f1(const std::vector<Step>& steps);

// The decisions by each threshold: {"threshold": [...], "true_positives":
// [...], "false_positives": [...]}, from the highest threshold down.  Of more
// than `most` steps as many are chosen, at equal distances.
Json points_of(const std::vector<Step>& steps, std::size_t most);

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_CURVE_H_
