#include "libcore/eval/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/eval/text.h"

namespace dl::eval {
namespace {

constexpr double kMaxErrors = 1e100;  // no sum of errors of floats is near it
constexpr std::array<const char*, 3> kPrefixes = {"", "naive_", "seasonal_"};
constexpr std::array<const char*, 3> kForecasterNames = {"model", "naive",
                                                         "seasonal naive"};
constexpr std::size_t kErrorMetrics = 5;  // of each forecaster
// Numbers of an output in a baseline: of each naive forecast kMeanErrors, then
// the mean of the target and that of its square.
constexpr std::size_t kBaselineNumbers = 8, kMeanErrors = 3;

std::map<std::string, double> settings_of(KindOptions settings,
                                          std::int64_t outputs) {
  constexpr double kMost = 1e300;
  constexpr std::int64_t kMostRows = 1'000'000;
  std::map<std::string, double> all;
  all["season"] =
      static_cast<double>(settings.integer("season", 1, 1, 1'000'000));
  for (std::int64_t j = 0; j < outputs; ++j) {
    const std::string name = "scale_" + std::to_string(j);
    all[name] = settings.number(name, 0, 0, kMost);
  }
  const auto difference = settings.integer("difference", 0, 0, kMostRows);
  const auto targets = settings.integer("targets", 1, 1, kMostRows);
  if (outputs % targets != 0)
    bad_usage("setting 'targets': want a divisor of " +
              std::to_string(outputs) + " outputs");
  if (difference > 0) all["difference"] = static_cast<double>(difference);
  if (difference > 0 || targets > 1)
    all["targets"] = static_cast<double>(targets);
  settings.finish("forecast");
  return all;
}

}  // namespace

void Forecast::Errors::add(double difference, double both) {
  const double error = std::fabs(difference);
  ++count;
  absolute.add(error);
  squared.add(error * error);
  relative.add(both > 0 ? 200 * error / both : 0);
}

void Forecast::Errors::add(std::span<const double> means) {
  ++count;
  absolute.add(means[0]);
  squared.add(means[1]);
  relative.add(means[2]);
}

Forecast::Forecast(const Subject& subject, KindOptions settings)
    : EvaluationBase("forecast", subject,
                     settings_of(settings, subject.outputs)) {
  const auto all = settings_of(std::move(settings), outputs());
  for (std::int64_t j = 0; j < outputs(); ++j)
    scales_.push_back(all.at("scale_" + std::to_string(j)));
  columns_.resize(scales_.size());
  if (all.contains("targets"))
    targets_ = static_cast<std::size_t>(all.at("targets"));
  if (all.contains("difference"))
    chain_ = static_cast<std::size_t>(all.at("difference")) * targets_;
}

void Forecast::compare_with(std::vector<float> naive,
                            std::vector<float> seasonal) {
  naive_ = std::move(naive);
  seasonal_ = std::move(seasonal);
}

void Forecast::set_baseline(std::vector<double> numbers) {
  constexpr double kMost = 1e80;
  const bool fits = numbers.size() == columns_.size() * kBaselineNumbers &&
                    std::ranges::all_of(numbers, [](double number) {
                      return std::fabs(number) < kMost;
                    });
  baseline_ = fits ? std::move(numbers) : std::vector<double>{};
}

std::span<const double> Forecast::baseline_of(std::size_t column) const {
  if (baseline_.empty()) return {};
  return std::span(baseline_).subspan(column * kBaselineNumbers,
                                      kBaselineNumbers);
}

// Differences do not tell the numbers.
void Forecast::put_targets(std::span<const double> targets) {
  for (std::size_t j = 0; j < targets.size(); ++j) {
    const auto means = baseline_of(j);
    if (chain_ > 0 && means.empty()) continue;
    Column& column = columns_[j];
    ++column.count;
    column.target.add(chain_ > 0 ? means[kBaselineNumbers - 2] : targets[j]);
    column.square.add(chain_ > 0 ? means[kBaselineNumbers - 1]
                                 : targets[j] * targets[j]);
  }
}

void Forecast::add_example(std::span<const float> outputs, const Labels& labels,
                           std::int64_t i) {
  const std::size_t n = outputs.size();
  std::vector<double> targets(n);
  for (std::size_t j = 0; j < n; ++j)
    targets[j] = labels.target(i, static_cast<std::int64_t>(j));
  const std::size_t first = static_cast<std::size_t>(i) * n;
  put_targets(targets);
  put_errors(outputs, targets, 0);
  for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
    const std::vector<float>& naive = k == 1 ? naive_ : seasonal_;
    if (first + n <= naive.size())
      put_errors(std::span(naive).subspan(first, n), targets, k);
  }
  ++examples_;
}

// A number is that of rows before and a difference, and so is its error.
void Forecast::put_errors(std::span<const float> forecast,
                          std::span<const double> targets,
                          std::size_t forecaster) {
  std::vector<double> errors(targets.size());
  for (std::size_t j = 0; j < targets.size(); ++j) {
    errors[j] = forecast[j] - targets[j];
    if (chain_ > 0 && j >= chain_) errors[j] += errors[j - chain_];
    Errors& own = columns_[j].errors[forecaster];
    if (forecaster == 0 || std::isfinite(errors[j])) {
      own.add(errors[j], std::fabs(forecast[j]) + std::fabs(targets[j]));
      continue;
    }
    const auto means = baseline_of(j);
    const std::size_t at = (forecaster - 1) * kMeanErrors;
    if (!means.empty() && means[at] >= 0)
      own.add(means.subspan(at, kMeanErrors));
  }
}

void Forecast::merge_same(const Evaluation& evaluation) {
  const auto& same = static_cast<const Forecast&>(evaluation);
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const Column& other = same.columns_[j];
    columns_[j].count += other.count;
    columns_[j].target.add(other.target);
    columns_[j].square.add(other.square);
    for (std::size_t k = 0; k < kForecasters; ++k) {
      Errors& own = columns_[j].errors[k];
      const Errors& more = other.errors[k];
      own.count += more.count;
      own.absolute.add(more.absolute);
      own.squared.add(more.squared);
      own.relative.add(more.relative);
    }
  }
  examples_ += same.examples_;
}

Metrics Forecast::measure(std::size_t column) const {
  Metrics metrics;
  const Column& own = columns_[column];
  const auto targets = static_cast<double>(own.count);
  const double mean = ratio(own.target.value(), targets);
  const double variance = ratio(own.square.value(), targets) - mean * mean;
  for (std::size_t k = 0; k < kForecasters; ++k) {
    const Errors& errors = own.errors[k];
    const auto n = static_cast<double>(errors.count);
    const std::string prefix = kPrefixes[k];
    const double mae = ratio(errors.absolute.value(), n);
    metrics.emplace_back(prefix + "mae", mae);
    const double mse = ratio(errors.squared.value(), n);
    metrics.emplace_back(prefix + "rmse", std::sqrt(mse));
    metrics.emplace_back(prefix + "smape",
                         chain_ > 0 ? std::numeric_limits<double>::quiet_NaN()
                                    : ratio(errors.relative.value(), n));
    metrics.emplace_back(prefix + "mase", ratio(mae, scales_[column]));
    metrics.emplace_back(prefix + "r2",
                         variance > 0 ? 1 - mse / variance : kNaN);
  }
  return metrics;
}

std::vector<Metrics> Forecast::by_output() const {
  std::vector<Metrics> all;
  all.reserve(columns_.size());
  for (std::size_t j = 0; j < columns_.size(); ++j) all.push_back(measure(j));
  return all;
}

Metrics Forecast::mean_of(std::size_t first, std::size_t end,
                          std::size_t by) const {
  std::vector<Metrics> all;
  for (std::size_t j = first; j < end; j += by) all.push_back(measure(j));
  Metrics metrics;
  for (std::size_t m = 0; m < all[0].size(); ++m) {
    std::vector<double> values;
    values.reserve(all.size());
    for (const Metrics& column : all) values.push_back(column[m].second);
    metrics.emplace_back(all[0][m].first, mean_defined(values));
  }
  return metrics;
}

Metrics Forecast::summary() const {
  Metrics metrics = {{"examples", static_cast<double>(examples_)}};
  const Metrics means = mean_of(0, columns_.size(), 1);
  metrics.insert(metrics.end(), means.begin(), means.end());
  return metrics;
}

Json Forecast::details() const {
  if (steps() < 2) return Json::object();
  Json rows = Json::array();
  for (std::size_t step = 0; step < steps(); ++step) {
    Json row = {{"step", step + 1}};
    for (const auto& [name, value] :
         mean_of(step * targets_, (step + 1) * targets_, 1))
      if (name.ends_with("mae") || name.ends_with("rmse"))
        row[name] = std::isfinite(value) ? Json(value) : Json();
    rows.push_back(std::move(row));
  }
  return {{"horizon", std::move(rows)}};
}

// A block of each target, over all its steps, and a line of each step.
void Forecast::print(std::ostream& out) const {
  out << "forecast: " << counted(static_cast<std::int64_t>(targets_), "column");
  if (steps() > 1)
    out << ", " << counted(static_cast<std::int64_t>(steps()), "step")
        << " ahead";
  out << ", " << counted(examples_, "example") << "\n\n";
  Table table = {{"column", "forecast", "mae", "rmse", "smape", "mase", "r2"}};
  const auto rows = [&](const std::string& name, const Metrics& metrics) {
    for (std::size_t k = 0; k < kForecasters; ++k) {
      std::vector<std::string> cells = {k == 0 ? name : "",
                                        kForecasterNames[k]};
      for (std::size_t m = 0; m < kErrorMetrics; ++m)
        cells.push_back(readable(metrics[k * kErrorMetrics + m].second));
      table.push_back(std::move(cells));
    }
  };
  for (std::size_t j = 0; j < targets_; ++j) {
    std::string name = name_of(static_cast<std::int64_t>(j));
    if (steps() > 1 && name.ends_with("+1")) name.resize(name.size() - 2);
    rows(name, mean_of(j, columns_.size(), targets_));
  }
  if (targets_ > 1) rows("mean", mean_of(0, columns_.size(), 1));
  eval::print(out, table);
  if (steps() > 1) print_steps(out);
}

void Forecast::print_steps(std::ostream& out) const {
  Table table = {{"step", "mae", "rmse", "naive mae", "seasonal mae"}};
  for (std::size_t step = 0; step < steps(); ++step) {
    const Metrics means = mean_of(step * targets_, (step + 1) * targets_, 1);
    table.push_back({std::to_string(step + 1), readable(means[0].second),
                     readable(means[1].second),
                     readable(means[kErrorMetrics].second),
                     readable(means[2 * kErrorMetrics].second)});
  }
  out << '\n';
  eval::print(out, table);
}

Json Forecast::state() const {
  Json all = Json::array(), levels = Json::array();
  for (const Column& column : columns_) {
    levels.push_back({{"count", column.count},
                      {"target", column.target.to_string()},
                      {"square", column.square.to_string()}});
    Json own = Json::array();
    for (const Errors& errors : column.errors)
      own.push_back({{"count", errors.count},
                     {"absolute", errors.absolute.to_string()},
                     {"squared", errors.squared.to_string()},
                     {"relative", errors.relative.to_string()}});
    all.push_back(std::move(own));
  }
  return {{"outputs", std::move(all)},
          {"targets", std::move(levels)},
          {"examples", examples_}};
}

void Forecast::read_state(const JsonView& state) {
  state.only({"outputs", "targets", "examples"});
  examples_ = state.at("examples").integer(0, kMaxCount);
  const auto sum = [](const JsonView& json, const char* key) {
    const ExactSum read = ExactSum::from_string(json.at(key).string());
    if (!(std::fabs(read.value()) < kMaxErrors))
      json.at(key).fail("a sum under 1e100");
    return read;
  };
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const JsonView targets = state.at("targets").at(j);
    targets.only({"count", "target", "square"});
    columns_[j].count = targets.at("count").integer(0, kMaxCount);
    columns_[j].target = sum(targets, "target");
    columns_[j].square = sum(targets, "square");
    for (std::size_t k = 0; k < kForecasters; ++k) {
      const JsonView json = state.at("outputs").at(j).at(k);
      json.only({"count", "absolute", "squared", "relative"});
      Errors& errors = columns_[j].errors[k];
      errors.count = json.at("count").integer(0, kMaxCount);
      errors.absolute = sum(json, "absolute");
      errors.squared = sum(json, "squared");
      errors.relative = sum(json, "relative");
    }
  }
}

}  // namespace dl::eval
