// Mean and deviation of metrics over reports, as of the folds of a
// cross-validation.

#ifndef DL_LIBCORE_EVAL_SPREAD_H_
#define DL_LIBCORE_EVAL_SPREAD_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/eval/report.h"

namespace dl::eval {

struct Spread {
  std::string metric;        // "accuracy", of several outputs "digit:accuracy"
  std::string kind;          // of its evaluation
  double mean = 0;           // over the reports that define it; NaN: none does
  double deviation = 0;      // of a sample; NaN of fewer than two
  std::int64_t reports = 0;  // that define it
};

// All metrics, in their order.
// Throws Error: kData, the reports are not of the same evaluations.
std::vector<Spread> spread_of(const std::vector<Evaluations>& reports);

void print(std::ostream& out, const std::vector<Spread>& all);
// [{"metric": "accuracy", "kind": "classification", "mean": ...,
//   "deviation": ..., "reports": ...}, ...]
Json to_json(const std::vector<Spread>& all);

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_SPREAD_H_
