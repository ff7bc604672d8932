// One of several classes: accuracy, top-N accuracy, precision, recall, F1,
// Matthews correlation, log loss, confusion matrix.
//
// The predicted class is the largest output, the first of equals; a single
// output p means class 1 where p >= threshold, and so does the second of two
// where the threshold is another one than 0.5.  top=N adds top_N_accuracy: the
// label is among the N largest outputs, equals taken in the order of classes.
// log_loss: mean of -log p(label), p not under 1e-10, as in the training loss.

#ifndef DL_LIBCORE_EVAL_CLASSIFICATION_H_
#define DL_LIBCORE_EVAL_CLASSIFICATION_H_

#include <map>

#include "libcore/eval/counts.h"
#include "libcore/eval/evaluation_base.h"
#include "libcore/eval/exact_sum.h"

namespace dl::eval {

class Classification final : public EvaluationBase {
 public:
  // Settings: top (1..outputs, default 1), threshold (default 0.5).
  Classification(const Subject& subject, KindOptions settings);

  void print(std::ostream& out) const override;
  void read_state(const JsonView& state) override;

 protected:
  void add_example(std::span<const float> outputs, const Labels& labels,
                   std::int64_t i) override;
  void merge_same(const Evaluation& other) override;
  Metrics summary() const override;
  std::vector<Metrics> by_output() const override;
  Json state() const override;
  std::int64_t rows() const override { return classes_; }

 private:
  Classification(const Subject& subject,
                 const std::map<std::string, double>& settings);
  std::vector<Counts> counts() const;  // of each class against the rest
  double mcc() const;                  // Gorodkin 2004, over all classes
  void print_confusion(std::ostream& out) const;

  std::int64_t classes_, top_;
  float threshold_;
  std::int64_t examples_ = 0, correct_ = 0, top_correct_ = 0;
  ExactSum log_loss_;
  // How often a class (first) was taken for another (second): only what
  // occurred, since few of many classes are ever confused.
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> confusion_;
};

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_CLASSIFICATION_H_
