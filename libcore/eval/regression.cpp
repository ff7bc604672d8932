// Errors and correlation of numbers.

#include "libcore/eval/regression.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/number_format.h"
#include "libcore/eval/text.h"

namespace dl::eval {
namespace {

// No sum of products of floats comes near it; squares of it are still finite.
constexpr double kMaxSum = 1e100;

}  // namespace

Regression::Regression(Subject subject, const KindOptions& settings)
    : EvaluationBase("regression", std::move(subject), {}),
      columns_(static_cast<std::size_t>(outputs())) {
  settings.finish("regression");
}

void Regression::add_example(std::span<const float> outputs,
                             const Labels& labels, std::int64_t i) {
  // First all that may throw: an example counts whole or not at all.
  std::vector<double> targets(outputs.size());
  for (std::size_t j = 0; j < outputs.size(); ++j)
    targets[j] = labels.target(i, static_cast<std::int64_t>(j));
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    const double y = outputs[j], t = targets[j];
    Column& c = columns_[j];
    c.y.add(y);
    c.t.add(t);
    c.yy.add(y * y);
    c.tt.add_product(t, t);
    c.yt.add_product(y, t);
    c.absolute.add(std::fabs(y - t));
  }
  ++examples_;
}

void Regression::merge_same(const Evaluation& other) {
  const auto& same = static_cast<const Regression&>(other);
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    Column& c = columns_[j];
    const Column& more = same.columns_[j];
    c.y.add(more.y);
    c.t.add(more.t);
    c.yy.add(more.yy);
    c.tt.add(more.tt);
    c.yt.add(more.yt);
    c.absolute.add(more.absolute);
  }
  examples_ += same.examples_;
}

Metrics Regression::measure(const Column& c) const {
  const auto n = static_cast<double>(examples_);
  ExactSum squares = c.yy;  // sum of (y - t)^2
  squares.add(c.tt);
  squares.subtract(c.yt);
  squares.subtract(c.yt);
  const double error = squares.value();
  const double spread_y = centred(examples_, c.yy, c.y, c.y);
  const double spread_t = centred(examples_, c.tt, c.t, c.t);
  const double both = centred(examples_, c.yt, c.y, c.t);
  const double correlation = ratio(both, std::sqrt(spread_y * spread_t));
  return {{"mse", ratio(error, n)},
          {"rmse", std::sqrt(ratio(error, n))},
          {"mae", ratio(c.absolute.value(), n)},
          {"r2", 1 - ratio(error, spread_t / n)},
          // Rounding must not take it out of its range; NaN stays.
          {"correlation", std::clamp(correlation, -1.0, 1.0)},
          {"mean_output", ratio(c.y.value(), n)},
          {"mean_target", ratio(c.t.value(), n)}};
}

std::vector<Metrics> Regression::by_output() const {
  std::vector<Metrics> all;
  all.reserve(columns_.size());
  for (const Column& column : columns_) all.push_back(measure(column));
  return all;
}

Metrics Regression::summary() const {
  Metrics metrics = {{"examples", static_cast<double>(examples_)}};
  const std::vector<Metrics> all = by_output();
  for (std::size_t k = 0; k < 5; ++k) {  // not the two means
    std::vector<double> values;
    values.reserve(all.size());
    for (const Metrics& column : all) values.push_back(column[k].second);
    metrics.emplace_back(all[0][k].first, mean_defined(values));
  }
  return metrics;
}

void Regression::print(std::ostream& out) const {
  out << "regression: " << counted(outputs(), "column") << ", "
      << counted(examples_, "example") << "\n\n";
  Table table = {{"column", "mse", "rmse", "mae", "r2", "correlation"}};
  const auto row = [&](const std::string& name, const Metrics& metrics,
                       std::size_t first) {
    std::vector<std::string> cells = {name};
    for (std::size_t k = first; k < first + 5; ++k)
      cells.push_back(readable(metrics[k].second));
    table.push_back(std::move(cells));
  };
  const std::vector<Metrics> all = by_output();
  for (std::size_t j = 0; j < all.size(); ++j)
    row(name_of(static_cast<std::int64_t>(j)), all[j], 0);
  if (all.size() > 1) row("mean", summary(), 1);
  eval::print(out, table);
}

Json Regression::state() const {
  Json all = Json::array();
  for (const Column& c : columns_)
    all.push_back({{"y", c.y.to_string()},
                   {"t", c.t.to_string()},
                   {"yy", c.yy.to_string()},
                   {"tt", c.tt.to_string()},
                   {"yt", c.yt.to_string()},
                   {"absolute", c.absolute.to_string()}});
  return {{"outputs", std::move(all)}, {"examples", examples_}};
}

void Regression::read_state(const JsonView& state) {
  state.only({"outputs", "examples"});
  examples_ = state.at("examples").integer(0, kMaxCount);
  const JsonView all = state.at("outputs");
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const JsonView json = all.at(j);
    json.only({"y", "t", "yy", "tt", "yt", "absolute"});
    const auto sum = [&](const char* key) {
      const ExactSum read = ExactSum::from_string(json.at(key).string());
      if (!(std::fabs(read.value()) < kMaxSum))
        json.at(key).fail("a sum under 1e100");
      return read;
    };
    columns_[j] = {sum("y"),  sum("t"),  sum("yy"),
                   sum("tt"), sum("yt"), sum("absolute")};
  }
}

}  // namespace dl::eval
