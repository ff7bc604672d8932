// Accuracy and related metrics of classes.

#include "libcore/eval/classification.h"

#include <algorithm>
#include <cmath>

namespace dl::eval {
namespace {

std::int64_t classes_of(const Subject& subject) {
  return subject.outputs == 1 ? 2 : subject.outputs;
}

std::map<std::string, double> settings_in(const Subject& subject,
                                          KindOptions& settings) {
  const std::int64_t top =
      settings.integer("top", 1, 1, std::max<std::int64_t>(1, subject.outputs));
  const double threshold = settings.number("threshold", 0.5, 0, 1);
  settings.finish("classification");
  return {{"top", static_cast<double>(top)}, {"threshold", threshold}};
}

}  // namespace

Classification::Classification(const Subject& subject, KindOptions settings)
    : Classification(subject, settings_in(subject, settings)) {}

Classification::Classification(const Subject& subject,
                               const std::map<std::string, double>& settings)
    : EvaluationBase("classification", subject, settings),
      classes_(classes_of(subject)),
      top_(static_cast<std::int64_t>(settings.at("top"))),
      threshold_(static_cast<float>(settings.at("threshold"))) {}

void Classification::add_example(std::span<const float> outputs,
                                 const Labels& labels, std::int64_t i) {
  const std::int64_t label = labels.class_of(i);
  std::int64_t guess = 0, before = 0;  // before: classes ranked over the label
  double probability = 0;
  if (outputs.size() == 1) {
    const double p = outputs[0];
    guess = outputs[0] >= threshold_ ? 1 : 0;
    before = guess == label ? 0 : 1;
    probability = label == 1 ? p : 1 - p;
  } else {
    guess = outputs.size() == 2 && threshold_ != 0.5F
                ? (outputs[1] >= threshold_ ? 1 : 0)
                : std::max_element(outputs.begin(), outputs.end()) -
                      outputs.begin();
    const float own = outputs[static_cast<std::size_t>(label)];
    for (std::int64_t j = 0; j < classes_; ++j) {
      const float other = outputs[static_cast<std::size_t>(j)];
      if (other > own || (other == own && j < label)) ++before;
    }
    probability = own;
  }
  ++examples_;
  ++confusion_[{label, guess}];
  if (guess == label) ++correct_;
  if (before < top_) ++top_correct_;
  log_loss_.add(-std::log(std::max(probability, kLeastProbability)));
}

void Classification::merge_same(const Evaluation& other) {
  const auto& same = static_cast<const Classification&>(other);
  examples_ += same.examples_;
  correct_ += same.correct_;
  top_correct_ += same.top_correct_;
  log_loss_.add(same.log_loss_);
  for (const auto& [pair, count] : same.confusion_) confusion_[pair] += count;
}

std::vector<Counts> Classification::counts() const {
  std::vector<Counts> all(static_cast<std::size_t>(classes_));
  for (const auto& [pair, count] : confusion_) {
    Counts& label = all[static_cast<std::size_t>(pair.first)];
    Counts& guess = all[static_cast<std::size_t>(pair.second)];
    if (pair.first == pair.second) {
      label.tp += count;
    } else {
      label.fn += count;
      guess.fp += count;
    }
  }
  for (Counts& c : all) c.tn = examples_ - c.tp - c.fp - c.fn;
  return all;
}

double Classification::mcc() const {
  const auto n = static_cast<double>(examples_);
  double both = 0, guessed = 0, labelled = 0;
  for (const Counts& c : counts()) {
    const auto guesses = static_cast<double>(c.tp + c.fp);
    const auto labels = static_cast<double>(c.tp + c.fn);
    both += guesses * labels;
    guessed += guesses * guesses;
    labelled += labels * labels;
  }
  const double scale = std::sqrt((n * n - guessed) * (n * n - labelled));
  if (scale == 0) return examples_ == 0 ? ratio(0, 0) : 0;
  return (static_cast<double>(correct_) * n - both) / scale;
}

Metrics Classification::summary() const {
  const auto n = static_cast<double>(examples_);
  Metrics metrics = {{"examples", n},
                     {"accuracy", ratio(static_cast<double>(correct_), n)}};
  if (top_ > 1)
    metrics.emplace_back("top_" + std::to_string(top_) + "_accuracy",
                         ratio(static_cast<double>(top_correct_), n));
  append_averages(metrics, counts());
  metrics.emplace_back("mcc", mcc());
  metrics.emplace_back("log_loss", ratio(log_loss_.value(), n));
  return metrics;
}

std::vector<Metrics> Classification::by_output() const {
  std::vector<Metrics> all;
  for (const Counts& c : counts()) {
    Metrics metrics = {{"examples", static_cast<double>(c.tp + c.fn)}};
    append_measures(metrics, c);
    all.push_back(std::move(metrics));
  }
  return all;
}

Json Classification::state() const {
  Json confusion = Json::array();
  for (const auto& [pair, count] : confusion_)
    confusion.push_back({pair.first, pair.second, count});
  return {{"confusion", std::move(confusion)},
          {"top_correct", top_correct_},
          {"log_loss", log_loss_.to_string()}};
}

void Classification::read_state(const JsonView& state) {
  state.only({"confusion", "top_correct", "log_loss"});
  const JsonView confusion = state.at("confusion");
  for (std::size_t i = 0; i < confusion.size(); ++i) {
    const JsonView cell = confusion.at(i);
    if (cell.size() != 3) cell.fail("[class, predicted, count]");
    const std::int64_t label = cell.at(0).integer(0, classes_ - 1);
    const std::int64_t guess = cell.at(1).integer(0, classes_ - 1);
    const std::int64_t count = cell.at(2).integer(1, kMaxCount - examples_);
    if (!confusion_.try_emplace({label, guess}, count).second)
      cell.fail("a pair of classes once");
    examples_ += count;
    if (label == guess) correct_ += count;
  }
  top_correct_ = state.at("top_correct").integer(correct_, examples_);
  log_loss_ = ExactSum::from_string(state.at("log_loss").string());
}

}  // namespace dl::eval
