// Forecasts: errors of a model's numbers beside those of the naive forecast,
// the last number that is known, and of the seasonal naive one, that of a
// season before.
//
//   mae, rmse
//   smape  mean of 200 |y - t| / (|y| + |t|), in percent; 0 where both are 0
//   mase   mae / mean error of the seasonal naive forecast of the training data
//   r2     1 - mse / variance of the targets, of the numbers themselves
//
// and the same as naive_mae, ..., seasonal_mae, ...; of several rows ahead also
// "horizon", mae and rmse of each row, means over the targets.

#ifndef DL_LIBCORE_EVAL_FORECAST_H_
#define DL_LIBCORE_EVAL_FORECAST_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"
#include "libcore/eval/evaluation_base.h"
#include "libcore/eval/exact_sum.h"

namespace dl::eval {

class Forecast final : public EvaluationBase {
 public:
  // settings: season; scale_J, the divisor of mase for output J; targets, the
  // outputs of each row ahead; and difference, where outputs are differences
  // from so many rows before: errors are those of the numbers themselves, and
  // smape, which wants these, is undefined.
  Forecast(const Subject& subject, KindOptions settings);

  // The naive forecasts of the examples that add() is given next:
  // [n, outputs] each, NaN where they say nothing.
  void compare_with(std::vector<float> naive, std::vector<float> seasonal);

  // Means over all examples of the stream whose examples follow, for naive
  // forecasts and numbers that these do not tell.  numbers: "baseline" of a
  // recipe's series, dl-recipe(5); empty: unknown.
  void set_baseline(std::vector<double> numbers);

  void print(std::ostream& out) const override;
  void read_state(const JsonView& state) override;

 protected:
  void add_example(std::span<const float> outputs, const Labels& labels,
                   std::int64_t i) override;
  void merge_same(const Evaluation& other) override;
  Metrics summary() const override;
  std::vector<Metrics> by_output() const override;
  Json state() const override;
  Json details() const override;

 private:
  struct Errors {
    std::int64_t count = 0;
    ExactSum absolute, squared, relative;
    void add(double difference, double both);  // both: |y| + |t|
    void add(std::span<const double> means);
  };
  static constexpr std::size_t kForecasters = 3;  // model, naive, seasonal
  struct Column {
    std::array<Errors, kForecasters> errors;
    std::int64_t count = 0;  // of targets
    ExactSum target, square;
  };
  Metrics measure(std::size_t column) const;
  // Means over columns first, first + by, ... before end.
  Metrics mean_of(std::size_t first, std::size_t end, std::size_t by) const;
  std::size_t steps() const { return columns_.size() / targets_; }
  void print_steps(std::ostream& out) const;

  void put_targets(std::span<const double> targets);
  // Numbers of the stream for an output; empty: unknown.
  std::span<const double> baseline_of(std::size_t column) const;
  void put_errors(std::span<const float> forecast,
                  std::span<const double> targets, std::size_t forecaster);

  std::vector<double> scales_;
  std::size_t targets_ = 1;
  std::size_t chain_ = 0;  // outputs from a difference to the one it adds to; 0
  std::vector<Column> columns_;
  std::vector<float> naive_, seasonal_;
  std::vector<double> baseline_;
  std::int64_t examples_ = 0;
};

// The settings of the kind for a model, as "season=7,scale_0=0.5".
// Throws Error: kUsage, its recipe is of no series of numbers.
std::string forecast_settings(const data::Metadata& known,
                              std::int64_t outputs);
// Whether it is of such series; and of differences of their numbers.
bool is_forecast(const data::Metadata& known);
bool predicts_differences(const data::Metadata& known);

// Tells it what the recipe of a stream knows of its naive forecasts.
void take_baseline(Forecast& forecast, const data::Metadata& stream);

// Gives it the naive forecasts of these examples, as the model takes them.
void compare_naive(Forecast& forecast, const data::Metadata& known,
                   const data::DataSet& set, std::int64_t outputs);

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_FORECAST_H_
