// Areas under curves, and the best threshold.

#include "libcore/eval/curve.h"

#include <algorithm>

#include "libcore/eval/evaluation_base.h"

namespace dl::eval {
namespace {

__extension__ typedef unsigned __int128 Wide;  // pairs of examples

Step total(const std::vector<Step>& steps) {
  Step sum;
  for (const Step& step : steps) {
    sum.positives += step.positives;
    sum.negatives += step.negatives;
  }
  return sum;
}

}  // namespace

double roc_auc(const std::vector<Step>& steps) {
  const Step all = total(steps);
  if (all.positives == 0 || all.negatives == 0) return kNaN;
  Wide twice = 0;  // pairs in order count 2, ties 1
  auto below = static_cast<Wide>(all.negatives);
  for (const Step& step : steps) {
    const auto positives = static_cast<Wide>(step.positives);
    const auto negatives = static_cast<Wide>(step.negatives);
    below -= negatives;
    twice += positives * (2 * below + negatives);
  }
  const Wide pairs =
      static_cast<Wide>(all.positives) * static_cast<Wide>(all.negatives);
  return static_cast<double>(twice) / (2 * static_cast<double>(pairs));
}

double average_precision(const std::vector<Step>& steps) {
  const Step all = total(steps);
  if (all.positives == 0 || all.negatives == 0) return kNaN;
  double area = 0;
  Step over;
  for (const Step& step : steps) {
    over.positives += step.positives;
    over.negatives += step.negatives;
    if (step.positives == 0) continue;
    area += static_cast<double>(step.positives) *
            (static_cast<double>(over.positives) /
             static_cast<double>(over.positives + over.negatives));
  }
  return area / static_cast<double>(all.positives);
}

BestF1 best_f1(const std::vector<Step>& steps) {
  const Step all = total(steps);
  if (all.positives == 0 || all.negatives == 0) return {kNaN, kNaN};
  BestF1 best;
  Step over;
  for (const Step& step : steps) {
    over.positives += step.positives;
    over.negatives += step.negatives;
    const double f1 =
        2 * static_cast<double>(over.positives) /
        static_cast<double>(all.positives + over.positives + over.negatives);
    if (step.positives > 0 && f1 >= best.f1) best = {f1, step.score};
  }
  return best;
}

Json points_of(const std::vector<Step>& steps, std::size_t most) {
  Json thresholds = Json::array(), positives = thresholds,
       negatives = thresholds;
  const std::size_t last = std::max<std::size_t>(steps.size(), 1) - 1;
  const std::size_t chosen = std::min(last, std::max<std::size_t>(most, 2) - 1);
  Step over;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    over.positives += steps[i].positives;
    over.negatives += steps[i].negatives;
    if (i != (chosen == 0 ? 0 : taken * last / chosen)) continue;
    ++taken;
    thresholds.push_back(steps[i].score);
    positives.push_back(over.positives);
    negatives.push_back(over.negatives);
  }
  return {{"threshold", std::move(thresholds)},
          {"true_positives", std::move(positives)},
          {"false_positives", std::move(negatives)}};
}

}  // namespace dl::eval
