// Examples that a report shows: those with the largest losses, and of a
// regression a sample.  Those of parts, merged, are those of the whole.

#ifndef DL_LIBCORE_EVAL_SHOWN_EXAMPLES_H_
#define DL_LIBCORE_EVAL_SHOWN_EXAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/eval/report.h"
#include "libcore/nn/network.h"

namespace dl::eval {

class ShownExamples {
 public:
  static constexpr std::int64_t kMost = 1000;
  static constexpr std::size_t kSample = 1000;

  // most: of the largest losses of each output; 0: nothing is kept.
  explicit ShownExamples(std::int64_t most = 0)
      : most_(static_cast<std::size_t>(most)) {}

  // A mini-batch; arguments as of add() in model.h.  input: its name; first:
  // number of its first example in that.  folders: where files may be that
  // examples are named after.  Outputs of sequences are left out.
  void add(const Evaluations& all, const Subjects& subjects,
           const nn::Network& network, const data::DataSet& set,
           const nn::Batch& batch, const std::vector<nn::Prediction>& outputs,
           const std::string& input, std::int64_t first,
           const std::vector<std::string>& folders);
  void merge(const ShownExamples& other);

  bool empty() const noexcept { return most_ == 0; }
  // {"most": N, "worst": [...], "sample": [...]}, dl-eval(1).
  Json to_json() const;
  // Throws Error: the view's code.
  static ShownExamples from_json(const JsonView& json);

 private:
  using Key = std::pair<double, std::string>;  // order, and the example
  void keep_worst(double loss, const Json& example);
  void keep_sample(const Json& example);

  std::size_t most_;
  // By output; the largest losses first, and the smallest digests.
  std::map<std::string, std::map<Key, Json>> worst_, sample_;
};

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_SHOWN_EXAMPLES_H_
