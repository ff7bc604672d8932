// Yes or no for each output.

#include "libcore/eval/binary.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/number_format.h"
#include "libcore/eval/text.h"

namespace dl::eval {
namespace {

double threshold_in(KindOptions& settings) {
  const double threshold = settings.number("threshold", 0.5, 0, 1);
  settings.finish("binary");
  return threshold;
}

}  // namespace

Binary::Binary(Subject subject, KindOptions settings)
    : Binary(std::move(subject), threshold_in(settings)) {}

Binary::Binary(Subject subject, double threshold)
    : EvaluationBase("binary", std::move(subject), {{"threshold", threshold}}),
      threshold_(static_cast<float>(threshold)),
      counts_(static_cast<std::size_t>(outputs())) {}

void Binary::add_example(std::span<const float> outputs, const Labels& labels,
                         std::int64_t i) {
  // First all that may throw: an example counts whole or not at all.
  std::vector<bool> truth(outputs.size());
  for (std::size_t j = 0; j < outputs.size(); ++j)
    truth[j] = labels.positive(i, static_cast<std::int64_t>(j));
  double loss = 0;
  bool exact = true;
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    const double p = outputs[j];
    const bool yes = outputs[j] >= threshold_;
    Counts& c = counts_[j];
    ++(truth[j] ? (yes ? c.tp : c.fn) : (yes ? c.fp : c.tn));
    exact = exact && yes == truth[j];
    loss -= std::log(std::max(truth[j] ? p : 1 - p, kLeastProbability));
  }
  ++examples_;
  if (exact) ++exact_;
  log_loss_.add(loss);
}

void Binary::merge_same(const Evaluation& other) {
  const auto& same = static_cast<const Binary&>(other);
  for (std::size_t j = 0; j < counts_.size(); ++j)
    counts_[j] += same.counts_[j];
  examples_ += same.examples_;
  exact_ += same.exact_;
  log_loss_.add(same.log_loss_);
}

Metrics Binary::summary() const {
  const auto n = static_cast<double>(examples_);
  Counts sum;
  for (const Counts& c : counts_) sum += c;
  Metrics metrics = {{"examples", n},
                     {"accuracy", sum.accuracy()},
                     {"exact_match", ratio(static_cast<double>(exact_), n)}};
  append_averages(metrics, counts_);
  metrics.emplace_back("log_loss", ratio(log_loss_.value(), n));
  return metrics;
}

std::vector<Metrics> Binary::by_output() const {
  std::vector<Metrics> all;
  for (const Counts& c : counts_) {
    Metrics metrics = {{"accuracy", c.accuracy()}};
    append_measures(metrics, c);
    all.push_back(std::move(metrics));
  }
  return all;
}

void Binary::print(std::ostream& out) const {
  out << "binary: " << counted(outputs(), "output") << ", "
      << counted(examples_, "example") << ", threshold " << shortest(threshold_)
      << "\n\n";
  Table table;
  for (const auto& [name, value] : summary())
    if (name != "examples") table.push_back({"  " + name, readable(value)});
  eval::print(out, table);
  table = {{"output", "accuracy", "precision", "recall", "f1", "mcc", "TP",
            "FP", "TN", "FN"}};
  for (std::int64_t j = 0; j < outputs(); ++j) {
    const Counts& c = counts_[static_cast<std::size_t>(j)];
    table.push_back({name_of(j), readable(c.accuracy()),
                     readable(c.precision()), readable(c.recall()),
                     readable(c.f1()), readable(c.mcc()), std::to_string(c.tp),
                     std::to_string(c.fp), std::to_string(c.tn),
                     std::to_string(c.fn)});
  }
  out << '\n';
  eval::print(out, table);
}

Json Binary::state() const {
  Json counts = Json::array();
  for (const Counts& c : counts_) counts.push_back({c.tp, c.fp, c.tn, c.fn});
  return {{"outputs", std::move(counts)},
          {"examples", examples_},
          {"exact", exact_},
          {"log_loss", log_loss_.to_string()}};
}

void Binary::read_state(const JsonView& state) {
  state.only({"outputs", "examples", "exact", "log_loss"});
  examples_ = state.at("examples").integer(0, kMaxCount);
  exact_ = state.at("exact").integer(0, examples_);
  const JsonView counts = state.at("outputs");
  if (counts.size() != counts_.size())
    counts.fail(std::to_string(counts_.size()) + " outputs");
  for (std::size_t j = 0; j < counts_.size(); ++j) {
    const auto four = read_counts(counts.at(j), 4);
    counts_[j] = {four[0], four[1], four[2], four[3]};
    if (four[0] + four[1] + four[2] + four[3] != examples_)
      counts.at(j).fail("counts that add up to " + std::to_string(examples_));
  }
  log_loss_ = ExactSum::from_string(state.at("log_loss").string());
}

}  // namespace dl::eval
