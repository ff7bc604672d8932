// Calibration: of the examples predicted with p = 0.8, are 80 % so?
//
// ece, mce: expected and largest calibration error of the confidence in the
// predicted class (Guo et al., "On calibration of modern neural networks",
// 2017) over equal bins; ece_classwise: the mean over outputs of the same for
// each output's own probability.  brier: mean of the sum over outputs of
// (p - t)^2.  Also a reliability diagram and histograms of p for each output,
// apart for positives and negatives: residuals are 1 - p and p.

#ifndef DL_LIBCORE_EVAL_CALIBRATION_H_
#define DL_LIBCORE_EVAL_CALIBRATION_H_

#include "libcore/eval/evaluation_base.h"
#include "libcore/eval/exact_sum.h"

namespace dl::eval {

class Calibration final : public EvaluationBase {
 public:
  // Settings: bins (default 10).
  Calibration(Subject subject, KindOptions settings);

  void print(std::ostream& out) const override;
  void read_state(const JsonView& state) override;

 protected:
  // Throws Error: kData, an output is no probability.
  void add_example(std::span<const float> outputs, const Labels& labels,
                   std::int64_t i) override;
  void merge_same(const Evaluation& other) override;
  Metrics summary() const override;
  std::vector<Metrics> by_output() const override;
  Json details() const override;
  Json state() const override;

 private:
  struct Bin {
    std::int64_t count = 0, positives = 0;
    std::int64_t sum = 0;  // of p, each rounded to 2^-30: adds exactly
    double mean() const;   // of p
    double rate() const;   // positives / count
  };
  struct Gap {  // between what bins say and what is
    double expected = 0, largest = 0;
  };
  using Bins = std::vector<Bin>;
  struct Output {
    Bins bins;
    std::vector<std::int64_t> positives, negatives;  // histograms of p
  };
  Calibration(Subject subject, std::int64_t bins);
  void count(Bins& bins, double p, bool positive) const;
  static void add_bins(Bins& bins, const Bins& more);
  static Gap gap(const Bins& bins);
  static Json to_json(const Bins& bins);
  void read(Bins& bins, const JsonView& json) const;

  Bins confidence_;
  std::vector<Output> outputs_;
  std::int64_t examples_ = 0;
  ExactSum brier_;
};

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_CALIBRATION_H_
