// Calibration errors and reliability diagram.

#include "libcore/eval/calibration.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/number_format.h"
#include "libcore/eval/text.h"

namespace dl::eval {
namespace {

constexpr std::int64_t kMaxBins = 1000;
constexpr std::size_t kHistogram = 50;  // bins of a histogram of p
constexpr double kUnit = 1 << 30;
constexpr double kSlack = 1e-4;  // float sums of a softmax may exceed 1

std::int64_t bins_in(KindOptions& settings) {
  const std::int64_t bins = settings.integer("bins", 10, 1, kMaxBins);
  settings.finish("calibration");
  return bins;
}

std::size_t bin_of(double p, std::size_t bins) {
  return std::min(bins - 1,
                  static_cast<std::size_t>(p * static_cast<double>(bins)));
}

void add_all(std::vector<std::int64_t>& counts,
             const std::vector<std::int64_t>& more) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += more[i];
}

}  // namespace

double Calibration::Bin::mean() const {
  return ratio(static_cast<double>(sum) / kUnit, static_cast<double>(count));
}

double Calibration::Bin::rate() const {
  return ratio(static_cast<double>(positives), static_cast<double>(count));
}

Calibration::Calibration(Subject subject, KindOptions settings)
    : Calibration(std::move(subject), bins_in(settings)) {}

Calibration::Calibration(Subject subject, std::int64_t bins)
    : EvaluationBase("calibration", std::move(subject),
                     {{"bins", static_cast<double>(bins)}}),
      confidence_(static_cast<std::size_t>(bins)) {
  outputs_.resize(static_cast<std::size_t>(outputs()));
  for (Output& output : outputs_) {
    output.bins = confidence_;
    output.positives.resize(kHistogram);
    output.negatives.resize(kHistogram);
  }
}

void Calibration::count(Bins& bins, double p, bool positive) const {
  Bin& bin = bins[bin_of(p, bins.size())];
  ++bin.count;
  if (positive) ++bin.positives;
  bin.sum += std::llround(p * kUnit);
}

void Calibration::add_example(std::span<const float> outputs,
                              const Labels& labels, std::int64_t i) {
  // First all that may throw: an example counts whole or not at all.
  std::vector<bool> truth(outputs.size());
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    truth[j] = labels.positive(i, static_cast<std::int64_t>(j));
    if (!(outputs[j] >= -kSlack && outputs[j] <= 1 + kSlack))
      throw dl::Error{Code::kData, "the model's output for " + example(i) +
                                       " is " + shortest(outputs[j]) +
                                       ", no probability to be calibrated"};
  }
  double brier = 0;
  std::size_t best = 0;
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    const double p = std::clamp<double>(outputs[j], 0, 1);
    const double off = p - (truth[j] ? 1 : 0);
    brier += off * off;
    count(outputs_[j].bins, p, truth[j]);
    ++(truth[j] ? outputs_[j].positives
                : outputs_[j].negatives)[bin_of(p, kHistogram)];
    if (outputs[j] > outputs[best]) best = j;
  }
  const double p = std::clamp<double>(outputs[best], 0, 1);
  const bool no = outputs.size() == 1 && p < 0.5;
  count(confidence_, no ? 1 - p : p, truth[best] != no);
  brier_.add(brier);
  ++examples_;
}

void Calibration::add_bins(Bins& bins, const Bins& more) {
  for (std::size_t b = 0; b < bins.size(); ++b) {
    bins[b].count += more[b].count;
    bins[b].positives += more[b].positives;
    bins[b].sum += more[b].sum;
  }
}

void Calibration::merge_same(const Evaluation& other) {
  const auto& same = static_cast<const Calibration&>(other);
  add_bins(confidence_, same.confidence_);
  for (std::size_t j = 0; j < outputs_.size(); ++j) {
    add_bins(outputs_[j].bins, same.outputs_[j].bins);
    add_all(outputs_[j].positives, same.outputs_[j].positives);
    add_all(outputs_[j].negatives, same.outputs_[j].negatives);
  }
  examples_ += same.examples_;
  brier_.add(same.brier_);
}

Calibration::Gap Calibration::gap(const Bins& bins) {
  Gap gap;
  double examples = 0;
  for (const Bin& bin : bins) {
    if (bin.count == 0) continue;
    const auto count = static_cast<double>(bin.count);
    const double off = std::fabs(bin.rate() - bin.mean());
    gap.expected += count * off;
    gap.largest = std::max(gap.largest, off);
    examples += count;
  }
  gap.expected = ratio(gap.expected, examples);
  if (examples == 0) gap.largest = gap.expected;  // NaN
  return gap;
}

Metrics Calibration::summary() const {
  const Gap top = gap(confidence_);
  std::vector<double> classwise;
  classwise.reserve(outputs_.size());
  for (const Output& output : outputs_)
    classwise.push_back(gap(output.bins).expected);
  const auto n = static_cast<double>(examples_);
  return {{"examples", n},
          {"ece", top.expected},
          {"mce", top.largest},
          {"ece_classwise", mean_defined(classwise)},
          {"brier", ratio(brier_.value(), n)}};
}

std::vector<Metrics> Calibration::by_output() const {
  std::vector<Metrics> all;
  for (const Output& output : outputs_) {
    const Gap own = gap(output.bins);
    Bin sum;
    for (const Bin& bin : output.bins) {
      sum.count += bin.count;
      sum.positives += bin.positives;
      sum.sum += bin.sum;
    }
    all.push_back({{"ece", own.expected},
                   {"mce", own.largest},
                   {"mean_probability", sum.mean()},
                   {"rate", sum.rate()}});
  }
  return all;
}

void Calibration::print(std::ostream& out) const {
  out << "calibration: " << counted(outputs(), "output") << ", "
      << counted(examples_, "example") << "\n\n";
  Table table;
  for (const auto& [name, value] : summary())
    if (name != "examples") table.push_back({"  " + name, readable(value)});
  eval::print(out, table);
  out << "\nreliability of the predicted class\n";
  table = {{"confidence", "examples", "mean confidence", "accuracy"}};
  const auto bins = static_cast<double>(confidence_.size());
  for (std::size_t b = 0; b < confidence_.size(); ++b) {
    const Bin& bin = confidence_[b];
    const auto at = static_cast<double>(b);
    table.push_back({shortest(at / bins) + ".." + shortest((at + 1) / bins),
                     std::to_string(bin.count), readable(bin.mean()),
                     readable(bin.rate())});
  }
  eval::print(out, table);
}

Json Calibration::details() const {
  Json diagram = Json::array();
  const auto bins = static_cast<double>(confidence_.size());
  for (std::size_t b = 0; b < confidence_.size(); ++b) {
    const Bin& bin = confidence_[b];
    if (bin.count == 0) continue;
    diagram.push_back({{"from", static_cast<double>(b) / bins},
                       {"to", static_cast<double>(b + 1) / bins},
                       {"examples", bin.count},
                       {"mean_confidence", bin.mean()},
                       {"accuracy", bin.rate()}});
  }
  return {{"reliability", std::move(diagram)}};
}

Json Calibration::to_json(const Bins& bins) {
  Json all = Json::array();
  for (const Bin& bin : bins)
    all.push_back({bin.count, bin.positives, bin.sum});
  return all;
}

Json Calibration::state() const {
  Json all = Json::array();
  for (const Output& output : outputs_)
    all.push_back({{"bins", to_json(output.bins)},
                   {"positives", output.positives},
                   {"negatives", output.negatives}});
  return {{"outputs", std::move(all)},
          {"confidence", to_json(confidence_)},
          {"examples", examples_},
          {"brier", brier_.to_string()}};
}

void Calibration::read(Bins& bins, const JsonView& json) const {
  if (json.size() != bins.size())
    json.fail(std::to_string(bins.size()) + " bins");
  std::int64_t examples = 0;
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const JsonView bin = json.at(b);
    if (bin.size() != 3) bin.fail("[count, positives, sum]");
    bins[b].count = bin.at(0).integer(0, examples_ - examples);
    bins[b].positives = bin.at(1).integer(0, bins[b].count);
    bins[b].sum = bin.at(2).integer(0, std::int64_t{1} << 62);
    examples += bins[b].count;
  }
  if (examples != examples_)
    json.fail("counts that add up to " + std::to_string(examples_));
}

void Calibration::read_state(const JsonView& state) {
  state.only({"outputs", "confidence", "examples", "brier"});
  examples_ = state.at("examples").integer(0, kMaxCount);
  read(confidence_, state.at("confidence"));
  const JsonView all = state.at("outputs");
  for (std::size_t j = 0; j < outputs_.size(); ++j) {
    const JsonView output = all.at(j);
    output.only({"bins", "positives", "negatives"});
    read(outputs_[j].bins, output.at("bins"));
    outputs_[j].positives = read_counts(output.at("positives"), kHistogram);
    outputs_[j].negatives = read_counts(output.at("negatives"), kHistogram);
  }
  brier_ = ExactSum::from_string(state.at("brier").string());
}

}  // namespace dl::eval
