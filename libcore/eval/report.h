// Several evaluations of the same examples: what one pass of dl-eval gives,
// how it is written and merged, and bars that it must reach.

#ifndef DL_LIBCORE_EVAL_REPORT_H_
#define DL_LIBCORE_EVAL_REPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/eval/evaluation.h"
#include "libcore/eval/outputs.h"

namespace dl::eval {

using Evaluations = std::vector<std::unique_ptr<Evaluation>>;

// kinds: chosen for these subjects (outputs.h).
// Throws Error: kUsage, also for a setting without effect.
Evaluations make_evaluations(const std::vector<std::string>& kinds,
                             const Subjects& subjects);

// The settings that dl-eval has options for: top for classifications, of
// several outputs those with that many classes; threshold for classifications
// of a single number or of two probabilities, and for binary.  0 and "" change
// nothing. kinds: as make_evaluations() has them. Throws Error: kUsage, none of
// the kinds has the setting.
void set_top(std::vector<std::string>& kinds, std::int64_t top,
             const Subjects& subjects);
void set_threshold(std::vector<std::string>& kinds,
                   const std::string& threshold, const Subjects& subjects);

// The settings of each forecast; settings: of so many outputs (forecast.h).
void set_forecast(
    std::vector<std::string>& kinds, const Subjects& subjects,
    const std::function<std::string(std::int64_t outputs)>& settings);

// Adds each of `part` to its like, or takes all over if `whole` is empty.
// Throws Error: kData, they are not evaluations of the same kinds.
void merge(Evaluations& whole, Evaluations part);

class ShownExamples;  // shown_examples.h

// The same with a report that dl-eval wrote; spec: see io/source.h.  shown:
// also takes the examples that it shows; or null.
// Throws Error: kData, it is none; kNoInput, kIo.  They name it.
void merge(Evaluations& whole, const std::string& spec,
           ShownExamples* shown = nullptr);

// {"format": "dl-eval", "version": 1, "evaluations": [...]}, dl-eval(1); beside
// them "examples" (shown_examples.h), if they were asked for.
Json report_to_json(const Evaluations& all);
// Throws Error: the view's code or kData; another format or version too.
Evaluations report_from_json(const JsonView& json);

void print(std::ostream& out, const Evaluations& all);

// A bound that a metric must reach, or must not exceed.
struct Bar {
  std::string metric;
  double limit = 0;
  bool least = true;  // false: a maximum
};

// Each text is METRIC=NUMBER: "accuracy=0.99", "recall/cat=0.5".
// Throws Error{kUsage}.
std::vector<Bar> parse_bars(const std::vector<std::string>& least,
                            const std::vector<std::string>& most);

// A sentence for each bar that is missed: "accuracy 0.91 is below 0.99".  An
// undefined metric misses every bar.  Throws Error: kUsage, no such metric.
std::vector<std::string> missed(const std::vector<Bar>& bars,
                                const Evaluations& all);

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_REPORT_H_
