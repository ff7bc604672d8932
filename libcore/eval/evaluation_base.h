// Helpers that the kinds of evaluation share: checks of what is added, metrics
// by name, and the frame of the JSON form.
//
// A kind says what an example does to its counts, and derives two lists from
// them: metrics over all outputs, and metrics of one output (or class), which
// are called NAME/OUTPUT, as in "recall/cat" or "recall/3".

#ifndef DL_LIBCORE_EVAL_EVALUATION_BASE_H_
#define DL_LIBCORE_EVAL_EVALUATION_BASE_H_

#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/eval/evaluation.h"
#include "libcore/eval/labels.h"

namespace dl::eval {

// Most outputs a document may speak of.
constexpr std::int64_t kMaxOutputs = std::int64_t{1} << 20;
// Less counts as this in logarithms, as in device::Device::loss().
constexpr double kLeastProbability = 1e-10;
// Largest count a document may hold: what JSON readers agree on.
constexpr std::int64_t kMaxCount = std::int64_t{1} << 53;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Metrics = std::vector<std::pair<std::string, double>>;

// Settings of a kind: "top=5,threshold=0.25", each a number.
class KindOptions {
 public:
  // Throws Error: kUsage, a setting is malformed.
  explicit KindOptions(std::string_view text);
  explicit KindOptions(std::map<std::string, double> values)
      : values_(std::move(values)) {}

  // Takes the setting out.  Throws Error: kUsage, out of min..max.
  std::int64_t integer(const std::string& name, std::int64_t fallback,
                       std::int64_t min, std::int64_t max);
  double number(const std::string& name, double fallback, double min,
                double max);
  // Throws Error: kUsage, something has not been taken.
  void finish(std::string_view kind) const;

 private:
  std::map<std::string, double> values_;
};

class EvaluationBase : public Evaluation {
 public:
  std::string_view kind() const override { return kind_; }
  std::string_view output() const override { return subject_.output; }
  void add(const tensor::Tensor& predictions, const tensor::Tensor& labels,
           const tensor::Tensor* mask) final;
  void merge(const Evaluation& other) final;
  double metric(std::string_view name) const final;
  std::vector<std::string> metrics() const final;
  Json to_json() const final;

  // Reads what to_json() wrote as "state" into this new evaluation.
  virtual void read_state(const JsonView& state) = 0;

 protected:
  // settings: as to_json() gives them.
  // Throws Error: kUsage, the subject has no outputs, or too many names.
  EvaluationBase(std::string_view kind, Subject subject,
                 std::map<std::string, double> settings);

  virtual void add_example(std::span<const float> outputs, const Labels& labels,
                           std::int64_t i) = 0;
  // `other` is of the same kind, subject and settings.
  virtual void merge_same(const Evaluation& other) = 0;
  virtual Metrics summary() const = 0;
  virtual std::vector<Metrics> by_output() const = 0;  // rows() of them
  // An object with more to show than numbers, added to "metrics".
  virtual Json details() const { return Json::object(); }
  virtual Json state() const = 0;
  // How many things by_output() tells apart: outputs, or classes.
  virtual std::int64_t rows() const { return subject_.outputs; }

  std::int64_t outputs() const { return subject_.outputs; }
  // Name of output or class j: its name, else its number.
  std::string name_of(std::int64_t j) const;
  // Name of the example of row i in messages: its number since the first add().
  std::string example(std::int64_t i) const;

 private:
  std::string_view kind_;
  Subject subject_;
  std::map<std::string, double> settings_;
  std::int64_t seen_ = 0;   // examples given to add() here
  std::int64_t steps_ = 1;  // of each in the add() in progress
};

// NaN where there is nothing to divide by.
double ratio(double part, double whole);
// Mean of the values that are not NaN; NaN if there are none.
double mean_defined(const std::vector<double>& values);

// Counts 0..kMaxCount.  Throws unless there are `size` of them.
std::vector<std::int64_t> read_counts(const JsonView& json, std::size_t size);

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_EVALUATION_BASE_H_
