// The choice of a run's charts.

#include "libcore/plot/run_charts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "libcore/plot/markup.h"
#include "libcore/plot/summary_charts.h"
#include "libcore/plot/values.h"

namespace dl::plot {
namespace {

constexpr std::size_t kMostLines = 8;  // colors of a chart
constexpr std::size_t kWindows = 100;  // of rates

const char* const kSeconds = "Training time in seconds";
const char* const kBatches = "Mini-batches";

// Points of a line before they are thinned.
struct Points {
  std::vector<double> x, y;
  void add(double at, double value) {
    x.push_back(at);
    y.push_back(value);
  }
};

struct Maker {
  const std::vector<Run>& runs;
  const std::vector<std::string> names = names_of(runs);
  bool alone() const { return runs.size() == 1; }
  const History& only() const { return runs[0].history(); }
  // "accuracy" of one run, "a accuracy" among several.
  std::string name(std::size_t run, const std::string& what) const {
    return alone() ? what : names[run] + (what.empty() ? "" : " " + what);
  }

  bool exchanges() const;  // whether any run has anything to exchange
  Chart loss_of_batches() const;
  Chart loss_of_epochs() const;
  std::vector<Chart> metrics() const;
  Chart rate(const char* id, const char* title, const char* unit,
             std::int64_t Commit::*amount) const;
  Chart of_exchanges(const char* id, const char* title, const char* y_label,
                     const char* key) const;
  Chart of_rounds(const char* id, const char* title, const char* y_label,
                  const char* key) const;
};

void add_line(Chart& chart, std::string name, const Points& points,
              std::size_t color, Line::Style style = Line::Style::kLine,
              std::size_t most = 300) {
  Curve curve = thinned(points.x, points.y, most);
  if (style == Line::Style::kDots && curve.x.size() > 40)
    style = Line::Style::kLine;
  if (!curve.x.empty())
    chart.lines.push_back({std::move(name), std::move(curve), color, style});
}

bool Maker::exchanges() const {
  const auto above = [](const auto& one, const char* key, double bound) {
    const auto at = one.values.find(key);
    return at != one.values.end() && at->second > bound;
  };
  return std::ranges::any_of(runs, [&](const Run& run) {
    return std::ranges::any_of(
               run.history().exchanges,
               [&](const auto& one) { return above(one, "bytes", 0); }) ||
           std::ranges::any_of(run.history().rounds, [&](const auto& one) {
             return above(one, "bytes", 0) || above(one, "replicas", 1);
           });
  });
}

Chart Maker::loss_of_batches() const {
  Chart chart{.id = "loss-batches",
              .title = "Training loss by mini-batch",
              .x_label = kBatches,
              .y_label = "mean loss of an example"};
  chart.x_low = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    Points raw;
    double batches = 0;
    std::int64_t most = 1;  // mini-batches of a commit
    for (const Commit& commit : runs[r].history().commits) {
      most = std::max(most, commit.count);
      raw.add(batches += static_cast<double>(commit.count), commit.loss);
    }
    if (alone())
      add_line(chart,
               most == 1
                   ? std::string("each mini-batch")
                   : "means of up to " + std::to_string(most) + " mini-batches",
               raw, r, Line::Style::kFaint);
    const double points =
        std::clamp(static_cast<double>(raw.y.size()) / 50, 2.0, 1000.0);
    const std::vector<double> smooth = smoothed(raw.y, points);
    Curve curve = thinned(raw.x, smooth);
    curve.low.clear();  // the band is that of the raw values
    curve.high.clear();
    if (!curve.x.empty())
      chart.lines.push_back(
          {name(r, alone() ? "smoothed" : ""), std::move(curve), r});
  }
  return chart;
}

Chart Maker::loss_of_epochs() const {
  Chart chart{.id = "loss-epochs",
              .title = "Loss by epoch",
              .x_label = "Epoch",
              .y_label = "mean loss of an example"};
  chart.counts = true;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    Points training;
    std::map<std::string, Points> held_out;  // by evaluation
    for (const Epoch& epoch : runs[r].history().epochs)
      training.add(static_cast<double>(epoch.epoch + 1), epoch.loss);
    for (const HeldOut& one : runs[r].history().held_out)
      for (const auto& [key, value] : one.metrics)
        if (key.ends_with("/log_loss"))
          held_out[key].add(static_cast<double>(one.epoch + 1), value);
    add_line(chart, name(r, "training"), training, alone() ? 0 : r,
             Line::Style::kDots);
    for (const auto& [key, points] : held_out)
      add_line(chart,
               name(r, held_out.size() == 1 ? "held-out log loss"
                                            : "held-out " + key),
               points, alone() ? chart.lines.size() : r,
               alone() ? Line::Style::kDots : Line::Style::kDashed);
  }
  return chart;
}

// "classification/accuracy" -> "accuracy": those that go into one chart.
struct MetricChart {
  const char *id, *title;
  std::vector<std::string> names;
  double low;
};

const std::vector<MetricChart>& metric_charts() {
  static const std::vector<MetricChart> charts = {
      {"accuracy", "Held-out accuracy", {"accuracy", "f1_macro"}, kNone},
      {"areas", "Held-out areas", {"auc", "average_precision"}, kNone},
      {"errors", "Held-out errors", {"rmse", "mae"}, kNone},
      {"r2", "Held-out R2 and correlation", {"r2", "correlation"}, kNone},
      {"calibration", "Held-out calibration error", {"ece", "brier"}, kNone}};
  return charts;
}

std::vector<Chart> Maker::metrics() const {
  std::vector<Chart> charts;
  for (const MetricChart& kind : metric_charts()) {
    Chart chart{.id = std::string("held-out-") + kind.id,
                .title = kind.title,
                .x_label = "Epoch",
                .y_label = ""};
    chart.counts = true;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      std::map<std::string, Points> of;  // by the whole name
      for (const HeldOut& one : runs[r].history().held_out)
        for (const auto& [key, value] : one.metrics) {
          const std::string last = key.substr(key.rfind('/') + 1);
          const bool shown =
              alone() ? std::ranges::find(kind.names, last) != kind.names.end()
                      : last == kind.names[0];
          if (shown) of[key].add(static_cast<double>(one.epoch + 1), value);
        }
      for (const auto& [key, points] : of) {
        std::string metric = key.substr(key.rfind('/') + 1);
        if (of.size() > kind.names.size()) metric = key;
        add_line(chart, name(r, alone() ? metric : ""), points,
                 alone() ? chart.lines.size() : r, Line::Style::kDots);
      }
    }
    if (!alone()) chart.title = "Held-out " + kind.names[0];
    charts.push_back(std::move(chart));
  }
  return charts;
}

// The amount of each window of time, divided by its width.
Points rate_of(const History& history, std::int64_t Commit::*amount,
               const std::function<bool(const Commit&)>& counts) {
  Points points;
  const auto n =
      std::clamp<std::size_t>(history.commits.size() / 10, 1, kWindows);
  if (history.commits.empty()) return points;
  const double end = history.commits.back().seconds;
  if (!(end > 0)) return points;
  const double width = end / static_cast<double>(n);
  std::vector<double> sums(n);
  for (const Commit& commit : history.commits) {
    if (!counts(commit)) continue;
    const double slot =
        std::min(static_cast<double>(n) - 1, commit.seconds / width);
    sums[static_cast<std::size_t>(std::max(0.0, slot))] +=
        static_cast<double>(commit.*amount);
  }
  for (std::size_t i = 0; i < n; ++i)
    points.add((static_cast<double>(i) + 0.5) * width, sums[i] / width);
  return points;
}

Chart Maker::rate(const char* id, const char* title, const char* unit,
                  std::int64_t Commit::*amount) const {
  Chart chart{.id = id, .title = title, .x_label = kSeconds, .y_label = unit};
  chart.x_low = chart.y_low = 0;
  const auto all = [](const Commit&) { return true; };
  for (std::size_t r = 0; r < runs.size(); ++r)
    add_line(chart, name(r, alone() ? "all workers" : ""),
             rate_of(runs[r].history(), amount, all), r);
  const std::size_t workers = alone() ? only().workers.size() : 0;
  if (workers > 1 && workers < kMostLines)
    for (std::size_t w = 0; w < workers; ++w)
      add_line(
          chart, only().workers[w],
          rate_of(only(), amount,
                  [&](const Commit& commit) { return commit.worker == w; }),
          w + 1);
  return chart;
}

Chart Maker::of_exchanges(const char* id, const char* title,
                          const char* y_label, const char* key) const {
  Chart chart{
      .id = id, .title = title, .x_label = kSeconds, .y_label = y_label};
  chart.x_low = 0;
  const auto points_of = [&](const Run& run, std::size_t worker) {
    Points points;
    for (const Exchange& one : run.history().exchanges)
      if (const auto at = one.values.find(key);
          at != one.values.end() &&
          (worker == std::string::npos || one.worker == worker))
        points.add(one.seconds, at->second);
    return points;
  };
  const bool by_worker = alone() && only().workers.size() <= kMostLines;
  if (by_worker) {
    const std::size_t workers = only().workers.size();
    for (std::size_t w = 0; w < workers; ++w) {
      add_line(chart, only().workers[w], points_of(runs[0], w), w,
               Line::Style::kLine, workers > 4 ? 40 : 120);
      if (workers == 1 || chart.lines.empty()) continue;
      chart.lines.back().curve.low.clear();  // bands hide each other
      chart.lines.back().curve.high.clear();
    }
    return chart;
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {  // one point for all workers
    const Points points = points_of(runs[r], std::string::npos);
    const std::size_t workers =
        std::max<std::size_t>(1, runs[r].history().workers.size());
    add_line(chart, name(r, alone() ? "all workers" : ""), points, r,
             Line::Style::kLine,
             std::clamp<std::size_t>(points.x.size() / workers, 1, 300));
  }
  return chart;
}

Chart Maker::of_rounds(const char* id, const char* title, const char* y_label,
                       const char* key) const {
  Chart chart{
      .id = id, .title = title, .x_label = kSeconds, .y_label = y_label};
  chart.x_low = chart.y_low = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    Points points;
    for (const Round& round : runs[r].history().rounds)
      if (const auto at = round.values.find(key); at != round.values.end())
        points.add(round.seconds, at->second);
    add_line(chart, name(r, alone() ? title : ""), points, r);
  }
  return chart;
}

}  // namespace

std::vector<std::string> names_of(const std::vector<Run>& runs) {
  std::vector<std::string> names;
  std::set<std::string> used;
  for (const Run& run : runs) {
    std::string name = run.name();
    for (int n = 2; !used.insert(name).second; ++n)
      name = run.name() + " (" + std::to_string(n) + ")";
    names.push_back(name);
  }
  return names;
}

std::vector<Group> charts_of(const std::vector<Run>& runs) {
  const Maker make{runs};
  Group training{"training", "Training", {}}, speed{"speed", "Speed", {}},
      exchange{"exchange", "Exchange", {}};
  training.charts = make.metrics();
  training.charts.insert(training.charts.begin(),
                         {make.loss_of_batches(), make.loss_of_epochs()});
  speed.charts = {
      make.rate("examples", "Examples trained", "examples per second",
                &Commit::examples),
      make.rate("bytes", "Updates received", "bytes per second",
                &Commit::bytes),
      make.of_exchanges("compute", "Computing a mini-batch", "milliseconds",
                        "compute_ms"),
      make.of_exchanges("wait", "Waiting for answers", "share of the time",
                        "wait"),
      make.of_exchanges("idle", "Waiting for work", "share of the time",
                        "idle"),
      make.of_exchanges("cores", "Cores busy", "of the worker", "cores"),
      make.of_exchanges("memory", "Memory", "bytes of the worker", "memory")};
  exchange.charts = {
      make.of_exchanges("staleness", "Staleness",
                        "updates of others before one's own, mean",
                        "staleness_mean"),
      make.of_exchanges("threshold", "Threshold", "of an update's element",
                        "threshold"),
      make.of_exchanges("density", "Density", "share of the elements sent",
                        "density"),
      make.of_rounds("averages", "Coded average of a round", "bytes", "bytes"),
      make.of_rounds("replicas", "Replicas that agree", "replicas", "replicas"),
      make.of_rounds("residual", "Residual", "sum of the replicas' norms",
                     "residual")};
  if (!make.exchanges()) exchange.charts.clear();
  Group layers{"layers", "Layers", {}};
  if (make.alone()) layers.charts = summary_charts(runs[0]);
  std::vector<Group> groups;
  for (Group* group : {&training, &layers, &speed, &exchange}) {
    for (Chart& chart : group->charts) chart.of_several = !make.alone();
    std::erase_if(group->charts,
                  [](const Chart& chart) { return chart.empty(); });
    if (!group->charts.empty()) groups.push_back(std::move(*group));
  }
  return groups;
}

}  // namespace dl::plot
