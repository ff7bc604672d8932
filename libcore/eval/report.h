// Several evaluations of the same examples: what one pass of dl-eval gives,
// how it is written and merged, and bars that it must reach.

#ifndef DL_LIBCORE_EVAL_REPORT_H_
#define DL_LIBCORE_EVAL_REPORT_H_

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/eval/evaluation.h"

namespace dl::eval {

using Evaluations = std::vector<std::unique_ptr<Evaluation>>;

// Throws Error: kUsage.
Evaluations make_evaluations(const std::vector<std::string>& kinds,
                             const Subject& subject);

// Adds each of `part` to its like, or takes all over if `whole` is empty.
// Throws Error: kData, they are not evaluations of the same kinds.
void merge(Evaluations& whole, Evaluations part);

// {"format": "dl-eval", "version": 1, "evaluations": [...]}, dl-eval(1).
Json report_to_json(const Evaluations& all);
// Throws Error: the view's code or kData; another format or version too.
Evaluations report_from_json(const JsonView& json);

void print(std::ostream& out, const Evaluations& all);

// What a metric must reach, or must not exceed.
struct Bar {
  std::string metric;
  double limit = 0;
  bool least = true;  // false: a maximum

  // "accuracy=0.99".  Throws Error{kUsage}; `option` is for the message.
  static Bar parse(const std::string& text, bool least,
                   const std::string& option);
};

// A sentence for each bar that is missed: "accuracy 0.91 is below 0.99".  An
// undefined metric misses every bar.  Throws Error: kUsage, no such metric.
std::vector<std::string> missed(const std::vector<Bar>& bars,
                                const Evaluations& all);

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_REPORT_H_
