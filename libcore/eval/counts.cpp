// Precision, recall, F1 and MCC from four counts.

#include "libcore/eval/counts.h"

#include <cmath>

namespace dl::eval {

Counts& Counts::operator+=(const Counts& other) {
  tp += other.tp;
  fp += other.fp;
  tn += other.tn;
  fn += other.fn;
  return *this;
}

double Counts::total() const {
  return static_cast<double>(tp) + static_cast<double>(fp) +
         static_cast<double>(tn) + static_cast<double>(fn);
}

double Counts::accuracy() const {
  return ratio(static_cast<double>(tp) + static_cast<double>(tn), total());
}

double Counts::precision() const {
  return ratio(static_cast<double>(tp),
               static_cast<double>(tp) + static_cast<double>(fp));
}

double Counts::recall() const {
  return ratio(static_cast<double>(tp),
               static_cast<double>(tp) + static_cast<double>(fn));
}

double Counts::f1() const {
  const double twice = 2 * static_cast<double>(tp);
  return ratio(twice,
               twice + static_cast<double>(fp) + static_cast<double>(fn));
}

double Counts::mcc() const {
  const auto a = static_cast<double>(tp), b = static_cast<double>(fp),
             c = static_cast<double>(fn), d = static_cast<double>(tn);
  const double scale = std::sqrt((a + b) * (a + c) * (d + b) * (d + c));
  if (scale == 0) return tp + fp + fn == 0 ? ratio(0, 0) : 0;
  return (a * d - b * c) / scale;
}

void append_averages(Metrics& metrics, const std::vector<Counts>& all) {
  std::vector<double> precision, recall, f1, mcc;
  Counts sum;
  for (const Counts& counts : all) {
    precision.push_back(counts.precision());
    recall.push_back(counts.recall());
    f1.push_back(counts.f1());
    mcc.push_back(counts.mcc());
    sum += counts;
  }
  metrics.emplace_back("precision_macro", mean_defined(precision));
  metrics.emplace_back("recall_macro", mean_defined(recall));
  metrics.emplace_back("f1_macro", mean_defined(f1));
  metrics.emplace_back("mcc_macro", mean_defined(mcc));
  metrics.emplace_back("precision_micro", sum.precision());
  metrics.emplace_back("recall_micro", sum.recall());
  metrics.emplace_back("f1_micro", sum.f1());
}

void append_measures(Metrics& metrics, const Counts& counts) {
  metrics.emplace_back("precision", counts.precision());
  metrics.emplace_back("recall", counts.recall());
  metrics.emplace_back("f1", counts.f1());
  metrics.emplace_back("mcc", counts.mcc());
  metrics.emplace_back("true_positives", static_cast<double>(counts.tp));
  metrics.emplace_back("false_positives", static_cast<double>(counts.fp));
  metrics.emplace_back("true_negatives", static_cast<double>(counts.tn));
  metrics.emplace_back("false_negatives", static_cast<double>(counts.fn));
}

}  // namespace dl::eval
