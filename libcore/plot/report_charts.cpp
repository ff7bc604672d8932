// Curves of evaluations.

#include "libcore/plot/report_charts.h"

#include <algorithm>
#include <utility>

#include "libcore/plot/markup.h"
#include "libcore/plot/thin.h"
#include "libcore/plot/values.h"

namespace dl::plot {
namespace {

constexpr std::size_t kMostOutputs = 8;

std::vector<std::size_t> shown_outputs(const Json& metrics) {
  const Json& outputs = metrics.at("outputs");
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (std::isfinite(number(outputs[i], "auc"))) all.push_back(i);
  if (outputs.size() == 2 && all.size() == 2) return {1};
  if (all.size() <= kMostOutputs) return all;
  std::ranges::stable_sort(
      all, {}, [&](std::size_t i) { return number(outputs[i], "auc"); });
  all.resize(kMostOutputs);
  return all;
}

Chart square(const std::string& id, const std::string& title,
             const std::string& x, const std::string& y) {
  Chart chart{.id = id, .title = title, .x_label = x, .y_label = y};
  chart.x_low = chart.y_low = 0;
  chart.x_high = chart.y_high = 1;
  return chart;
}

// Costs of the wrong answers by threshold, for three ratios of the costs of a
// missed positive and of a false alarm.
Chart cost_chart(const Json& curve, double positives, double negatives,
                 const std::string& name, const std::string& id) {
  Chart chart{.id = id,
              .title = "Cost by threshold: " + name,
              .x_label = "Threshold from which the answer is yes",
              .y_label = "of an example; the cheaper error costs 1"};
  struct Ratio {
    const char* name;
    double missed, alarm;
  };
  chart.y_low = 0;
  chart.note = "Lowest:";
  for (const Ratio& ratio : {Ratio{"both errors cost the same", 1, 1},
                             Ratio{"a miss costs 10", 10, 1},
                             Ratio{"a false alarm costs 10", 1, 10}}) {
    Curve costs;
    for (std::size_t p = curve.at("threshold").size(); p-- > 0;) {
      const auto yes = curve.at("true_positives")[p].get<double>();
      const auto wrong = curve.at("false_positives")[p].get<double>();
      costs.x.push_back(curve.at("threshold")[p].get<double>());
      costs.y.push_back(
          (ratio.missed * (positives - yes) + ratio.alarm * wrong) /
          (positives + negatives));
    }
    if (costs.x.empty()) continue;
    const auto best = std::ranges::min_element(costs.y) - costs.y.begin();
    const auto at = static_cast<std::size_t>(best);
    chart.note += (chart.lines.empty() ? " " : "; ") +
                  readable_number(costs.y[at]) + " at " +
                  readable_number(costs.x[at]) + ", if " + ratio.name;
    chart.marks.emplace_back(costs.x[at],
                             std::string("lowest, if ") + ratio.name);
    chart.lines.push_back(
        {ratio.name, thinned(costs.x, costs.y), chart.lines.size()});
    chart.lines.back().curve.low.clear();
    chart.lines.back().curve.high.clear();
  }
  chart.note += ".";
  return chart;
}

}  // namespace

std::string output_name(const Json& evaluation, std::size_t i) {
  const Json& names = evaluation.at("names");
  return i < names.size() ? names[i].get<std::string>() : std::to_string(i);
}

std::vector<Chart> roc_charts(const Json& evaluation,
                              const std::string& prefix) {
  const Json& metrics = evaluation.at("metrics");
  Chart roc = square(prefix + "roc", "ROC curve",
                     "False positive rate: false positives of all negatives",
                     "true positive rate");
  roc.diagonal = true;
  Chart pr =
      square(prefix + "pr", "Precision and recall", "Recall", "precision");
  std::vector<Chart> by_threshold;
  const auto shown = shown_outputs(metrics);
  if (shown.size() < metrics.at("outputs").size() && shown.size() > 1)
    roc.note = pr.note = "The outputs with the smallest areas.";
  for (std::size_t k = 0; k < shown.size(); ++k) {
    const std::size_t i = shown[k];
    const Json& output = metrics.at("outputs")[i];
    const Json& curve = metrics.at("curves")[i];
    const double positives = number(output, "positives");
    const double negatives = number(output, "negatives");
    Curve rates{{0}, {0}, {}, {}}, precision, of_precision, of_recall;
    for (std::size_t p = 0; p < curve.at("threshold").size(); ++p) {
      const auto yes = curve.at("true_positives")[p].get<double>();
      const auto wrong = curve.at("false_positives")[p].get<double>();
      rates.x.push_back(wrong / negatives);
      rates.y.push_back(yes / positives);
      if (yes + wrong == 0) continue;  // counted at steps: none so high
      precision.x.push_back(yes / positives);
      precision.y.push_back(yes / (yes + wrong));
      of_precision.x.push_back(curve.at("threshold")[p].get<double>());
      of_precision.y.push_back(precision.y.back());
      of_recall.y.push_back(precision.x.back());
    }
    const std::string name = output_name(evaluation, i);
    roc.lines.push_back(
        {name + ", area " + readable_number(number(output, "auc")), rates, k});
    pr.lines.push_back(
        {name + ", average " +
             readable_number(number(output, "average_precision")),
         precision, k});
    if (shown.size() > 2) continue;
    by_threshold.push_back(cost_chart(curve, positives, negatives, name,
                                      prefix + "cost" + std::to_string(i)));
    std::ranges::reverse(of_precision.x);  // from the lowest threshold up
    std::ranges::reverse(of_precision.y);
    std::ranges::reverse(of_recall.y);
    of_recall.x = of_precision.x;
    Chart both{.id = prefix + "threshold" + std::to_string(i),
               .title = "Precision and recall by threshold: " + name,
               .x_label = "Threshold from which the answer is yes",
               .y_label = ""};
    both.y_low = 0;
    both.y_high = 1;
    both.lines.push_back({"precision", of_precision, 0});
    both.lines.push_back({"recall", of_recall, 1});
    const double best = number(output, "best_f1_threshold");
    both.note = "Best F1 " + readable_number(number(output, "best_f1")) +
                " at the threshold " + readable_number(best) + ".";
    both.marks.emplace_back(best, "best F1");
    by_threshold.push_back(std::move(both));
  }
  std::vector<Chart> charts = {roc, pr};
  charts.insert(charts.end(), by_threshold.begin(), by_threshold.end());
  std::erase_if(charts, [](const Chart& chart) { return chart.empty(); });
  return charts;
}

std::vector<Chart> horizon_charts(const Json& evaluation,
                                  const std::string& prefix) {
  const Json rows = part(evaluation.at("metrics"), "horizon");
  std::vector<Chart> charts;
  if (!rows.is_array() || rows.size() < 2) return charts;
  for (const auto& [error, title] :
       {std::pair("mae", "Mean absolute error"),
        std::pair("rmse", "Root mean square error")}) {
    Chart chart{.id = prefix + error,
                .title = title + std::string(" by horizon"),
                .x_label = "Rows ahead",
                .y_label = "mean over the columns"};
    chart.y_low = 0;
    chart.counts = true;
    for (const auto& [before, name] :
         {std::pair("", "model"), std::pair("naive_", "naive"),
          std::pair("seasonal_", "seasonal naive")}) {
      std::vector<double> x, y;
      for (const Json& row : rows) {
        x.push_back(number(row, "step"));
        y.push_back(number(row, (std::string(before) + error).c_str()));
      }
      Curve curve = thinned(x, y);
      if (!curve.x.empty())
        chart.lines.push_back(
            {name, std::move(curve), chart.lines.size(),
             x.size() > 40 ? Line::Style::kLine : Line::Style::kDots});
    }
    if (!chart.lines.empty()) charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<Chart> calibration_charts(const Json& evaluation,
                                      const std::string& prefix) {
  const Json& bins = evaluation.at("metrics").at("reliability");
  Chart chart = square(prefix + "reliability", "Reliability",
                       "Mean confidence in the predicted class",
                       "accuracy, as the diagonal if calibrated");
  chart.diagonal = true;
  Chart counts{.id = prefix + "confidence",
               .title = "Confidence",
               .x_label = "Confidence in the predicted class",
               .y_label = "examples"};
  counts.x_low = 0;
  counts.x_high = 1;
  Curve curve, bars;
  for (const Json& bin : bins) {
    curve.x.push_back(number(bin, "mean_confidence"));
    curve.y.push_back(number(bin, "accuracy"));
  }
  const auto n =
      static_cast<std::size_t>(number(evaluation.at("settings"), "bins"));
  for (std::size_t b = 0; b < n; ++b) {
    bars.x.push_back((static_cast<double>(b) + 0.5) / static_cast<double>(n));
    bars.y.push_back(0);
  }
  for (const Json& bin : bins) {
    const double middle = (number(bin, "from") + number(bin, "to")) / 2;
    const auto b = static_cast<std::size_t>(middle * static_cast<double>(n));
    if (b < n) bars.y[b] = number(bin, "examples");
  }
  chart.lines.push_back({"accuracy", curve, 0, Line::Style::kDots});
  counts.lines.push_back({"examples", bars, 0, Line::Style::kBars});
  return {chart, counts};
}

}  // namespace dl::plot
