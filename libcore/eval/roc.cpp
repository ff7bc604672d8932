// ROC and precision-recall areas.

#include "libcore/eval/roc.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/number_format.h"
#include "libcore/eval/text.h"

namespace dl::eval {
namespace {

constexpr std::int64_t kMaxCounts = 1 << 24;  // over all outputs

std::int64_t steps_in(const Subject& subject, KindOptions& settings) {
  const std::int64_t most =
      kMaxCounts / std::max<std::int64_t>(1, subject.outputs);
  const std::int64_t steps = settings.integer("steps", 0, 0, most);
  settings.finish("roc");
  return steps;
}

}  // namespace

Roc::Roc(const Subject& subject, KindOptions settings)
    : Roc(subject, steps_in(subject, settings)) {}

Roc::Roc(Subject subject, std::int64_t steps)
    : EvaluationBase("roc", std::move(subject),
                     {{"steps", static_cast<double>(steps)}}),
      steps_(steps),
      scores_(static_cast<std::size_t>(outputs()), Scores(steps)) {}

void Roc::add_example(std::span<const float> outputs, const Labels& labels,
                      std::int64_t i) {
  // First all that may throw: an example counts whole or not at all.
  std::vector<bool> truth(outputs.size());
  for (std::size_t j = 0; j < outputs.size(); ++j)
    truth[j] = labels.positive(i, static_cast<std::int64_t>(j));
  for (std::size_t j = 0; j < outputs.size(); ++j)
    scores_[j].add(outputs[j], truth[j]);
}

void Roc::merge_same(const Evaluation& other) {
  const auto& same = static_cast<const Roc&>(other);
  for (std::size_t j = 0; j < scores_.size(); ++j)
    scores_[j].merge(same.scores_[j]);
}

Metrics Roc::summary() const {
  std::vector<double> auc, precision, f1;
  for (const Scores& scores : scores_) {
    const std::vector<Step> curve = scores.curve();
    auc.push_back(roc_auc(curve));
    precision.push_back(average_precision(curve));
    f1.push_back(best_f1(curve).f1);
  }
  const std::int64_t examples = scores_[0].positives() + scores_[0].negatives();
  return {{"examples", static_cast<double>(examples)},
          {"auc", mean_defined(auc)},
          {"average_precision", mean_defined(precision)},
          {"best_f1", mean_defined(f1)}};
}

std::vector<Metrics> Roc::by_output() const {
  std::vector<Metrics> all;
  for (const Scores& scores : scores_) {
    const std::vector<Step> curve = scores.curve();
    const BestF1 best = best_f1(curve);
    all.push_back({{"auc", roc_auc(curve)},
                   {"average_precision", average_precision(curve)},
                   {"best_f1", best.f1},
                   {"best_f1_threshold", best.threshold},
                   {"positives", static_cast<double>(scores.positives())},
                   {"negatives", static_cast<double>(scores.negatives())}});
  }
  return all;
}

void Roc::print(std::ostream& out) const {
  const Metrics means = summary();
  out << "roc: " << counted(outputs(), "output") << ", "
      << counted(static_cast<std::int64_t>(means[0].second), "example") << ", ";
  if (steps_ == 0)
    out << "exact";
  else
    out << "counted at " << steps_ + 1 << " thresholds";
  out << "\n\n";
  Table table = {{"output", "auc", "average_precision", "best_f1", "threshold",
                  "positives", "negatives"}};
  const std::vector<Metrics> all = by_output();
  for (std::size_t j = 0; j < all.size(); ++j) {
    const Metrics& own = all[j];
    table.push_back({name_of(static_cast<std::int64_t>(j)),
                     readable(own[0].second), readable(own[1].second),
                     readable(own[2].second),
                     std::isnan(own[3].second)
                         ? "-"
                         : shortest(static_cast<float>(own[3].second)),
                     shortest(own[4].second), shortest(own[5].second)});
  }
  if (all.size() > 1)
    table.push_back({"mean", readable(means[1].second),
                     readable(means[2].second), readable(means[3].second)});
  eval::print(out, table);
}

Json Roc::details() const {
  constexpr std::int64_t kAll = 20000, kOne = 1000, kLeast = 20;
  const auto most = static_cast<std::size_t>(
      std::clamp(kAll / std::max<std::int64_t>(1, outputs()), kLeast, kOne));
  Json curves = Json::array();
  for (const Scores& scores : scores_)
    curves.push_back(points_of(scores.curve(), most));
  return {{"curves", std::move(curves)}};
}

Json Roc::state() const {
  Json all = Json::array();
  for (const Scores& scores : scores_) all.push_back(scores.to_json());
  return {{"outputs", std::move(all)}};
}

void Roc::read_state(const JsonView& state) {
  state.only({"outputs"});
  const JsonView all = state.at("outputs");
  for (std::size_t j = 0; j < scores_.size(); ++j) {
    scores_[j].read(all.at(j));
    if (scores_[j].positives() + scores_[j].negatives() !=
        scores_[0].positives() + scores_[0].negatives())
      all.at(j).fail("as many scores as the outputs before it");
  }
}

}  // namespace dl::eval
