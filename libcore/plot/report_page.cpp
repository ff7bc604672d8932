// Composition of the page of an evaluation.

#include "libcore/plot/report_page.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "libcore/base/display.h"
#include "libcore/base/number_format.h"
#include "libcore/eval/report.h"
#include "libcore/eval/shown_examples.h"
#include "libcore/io/source.h"
#include "libcore/plot/example_section.h"
#include "libcore/plot/markup.h"
#include "libcore/plot/page.h"
#include "libcore/plot/report_charts.h"
#include "libcore/plot/values.h"

namespace dl::plot {
namespace {

constexpr std::size_t kMostReport = std::size_t{2} << 30;
constexpr std::size_t kMostClasses = 40;  // of a matrix

using Cells = std::vector<std::vector<std::string>>;

}  // namespace

Json read_report(const std::string& path) {
  const auto source = io::open_file(path);
  const Json json = parse_json(io::read_all(*source, kMostReport),
                               in_quotes(path), Code::kData);
  try {
    const JsonView view(json, Code::kData);
    Json whole = eval::report_to_json(eval::report_from_json(view));
    if (view.has("examples"))
      whole["examples"] =
          eval::ShownExamples::from_json(view.at("examples")).to_json();
    return whole;
  } catch (Error& e) {
    e.add_context(in_quotes(path));
    throw;
  }
}

namespace {

bool is_count(const std::string& name) {
  return name == "examples" || name.ends_with("positives") ||
         name.ends_with("negatives");
}

std::string metric_cell(const std::string& name, double value) {
  return is_count(name) ? grouped(value) : readable_number(value);
}

void add_metrics_table(Page& page, const Json& metrics) {
  Cells rows;
  for (const auto& [name, value] : metrics.items())
    if (value.is_number())
      rows.push_back({name, metric_cell(name, value.get<double>())});
    else if (value.is_null())
      rows.push_back({name, "–"});
  page.table({"Metric", "Value"}, rows, "Metrics");
}

void add_outputs_table(Page& page, const Json& evaluation) {
  const Json& outputs = evaluation.at("metrics").at("outputs");
  if (outputs.empty()) return;
  std::vector<std::string> keys;
  for (const auto& [key, value] : outputs[0].items())
    if (key != "name") keys.push_back(key);
  std::vector<std::string> head = {"Output"};
  head.insert(head.end(), keys.begin(), keys.end());
  Cells rows;
  for (std::size_t i = 0; i < outputs.size() && i < 1000; ++i) {
    rows.push_back({output_name(evaluation, i)});
    for (const std::string& key : keys)
      rows.back().push_back(metric_cell(key, number(outputs[i], key.c_str())));
  }
  page.table(head, rows, "Each class or output", outputs.size() > 12);
}

// As dl-eval prints it.
void add_forecast(Page& page, const Json& evaluation) {
  static const std::vector<std::string> names = {"mae", "rmse", "smape", "mase",
                                                 "r2"};
  Cells rows;
  const auto add = [&](const std::string& column, const Json& metrics) {
    for (const auto& [prefix, forecaster] :
         {std::pair("", "model"), std::pair("naive_", "naive"),
          std::pair("seasonal_", "seasonal naive")}) {
      rows.push_back({column, forecaster});
      for (const std::string& name : names) {
        const double value = number(metrics, (prefix + name).c_str());
        rows.back().push_back(std::isfinite(value) ? readable_number(value)
                                                   : "–");
      }
    }
  };
  const Json& metrics = evaluation.at("metrics");
  const Json outputs = part(metrics, "outputs");
  for (std::size_t i = 0; i < outputs.size() && i < 1000; ++i)
    add(output_name(evaluation, i), outputs[i]);
  if (outputs.size() != 1) add("mean", metrics);
  std::vector<std::string> head = {"Column", "Forecast"};
  head.insert(head.end(), names.begin(), names.end());
  page.table(head, rows, "Forecasts");
}

// Rows are classes, columns predictions; the share is that of the row.
void add_confusion(Page& page, const Json& evaluation) {
  std::map<std::pair<std::size_t, std::size_t>, double> counts;
  std::map<std::size_t, double> totals, wrong;
  for (const Json& cell : evaluation.at("state").at("confusion")) {
    const auto truth = cell[0].get<std::size_t>();
    const auto guess = cell[1].get<std::size_t>();
    const auto n = cell[2].get<double>();
    counts[{truth, guess}] = n;
    totals[truth] += n;
    if (truth != guess) wrong[truth] += n, wrong[guess] += n;
  }
  std::size_t classes = evaluation.at("outputs").get<std::size_t>();
  if (classes == 1) classes = 2;  // a single output: no and yes
  std::vector<std::size_t> shown(classes);
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  if (classes > kMostClasses) {
    std::ranges::stable_sort(shown, std::ranges::greater{},
                             [&](std::size_t i) { return wrong[i]; });
    shown.resize(kMostClasses);
    std::ranges::sort(shown);
    page.note("The " + std::to_string(kMostClasses) + " of " +
              std::to_string(classes) + " classes with the most errors.");
  }
  std::string html =
      "<h3>Confusion matrix</h3><p class=\"note\">A row is a class, a column a "
      "prediction: examples, and their share of the row.</p>"
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
      "aria-label=\"Confusion matrix\"><table class=\"matrix\"><thead>"
      "<tr><th scope=\"col\">Class</th>";
  for (const std::size_t guess : shown)
    html += "<th scope=\"col\">" + escaped(output_name(evaluation, guess), 24) +
            "</th>";
  html += "</tr></thead><tbody>\n";
  for (const std::size_t truth : shown) {
    html += "<tr><th scope=\"row\">" +
            escaped(output_name(evaluation, truth), 24) + "</th>";
    for (const std::size_t guess : shown) {
      const auto at = counts.find({truth, guess});
      const double n = at == counts.end() ? 0 : at->second;
      const double share = totals[truth] > 0 ? n / totals[truth] : 0;
      html += std::string("<td") + (truth == guess ? " class=\"right\"" : "") +
              " style=\"--s:" + format("%.3f", share) + "\">";
      if (n > 0)
        html +=
            grouped(n) + "<small>" + format("%.3g", 100 * share) + " %</small>";
      html += "</td>";
    }
    html += "</tr>\n";
  }
  page.html(html + "</tbody></table></div>\n");
}

void add_evaluation(Page& page, const Json& evaluation, const Json& examples,
                    const std::string& before, std::size_t index) {
  const std::string kind = text(evaluation, "kind");
  const std::string output = text(evaluation, "output");
  const std::string id = "evaluation" + std::to_string(index);
  std::string title = kind;
  title[0] = static_cast<char>(title[0] - 'a' + 'A');
  if (kind == "roc") title = "ROC";
  if (!output.empty()) title += " of " + output;
  page.section(id, before + title);
  const Json& metrics = evaluation.at("metrics");
  if (kind == "roc") page.charts(roc_charts(evaluation, id + "-"));
  if (kind == "calibration")
    page.charts(calibration_charts(evaluation, id + "-"));
  if (kind == "classification") add_confusion(page, evaluation);
  if (kind == "regression" || kind == "forecast")
    if (const auto charts = sample_charts(examples, evaluation, id + "-");
        !charts.empty())
      page.charts(charts);
  if (kind == "forecast") {
    if (const auto charts = horizon_charts(evaluation, id + "-");
        !charts.empty())
      page.charts(charts);
    return add_forecast(page, evaluation);
  }
  add_metrics_table(page, metrics);
  add_outputs_table(page, evaluation);
}

}  // namespace

std::string report_page(const std::vector<std::string>& paths) {
  const auto name = [](const std::string& path) {
    return std::filesystem::path(path).filename().string();
  };
  Page page(paths.size() == 1 ? name(paths[0]) : "Evaluations");
  std::size_t index = 0;
  for (const std::string& path : paths) {
    const Json report = read_report(path);
    const std::string before = paths.size() == 1 ? "" : name(path) + ": ";
    const Json examples = part(report, "examples");
    for (const Json& evaluation : report.at("evaluations"))
      add_evaluation(page, evaluation, examples, before, index++);
    add_worst(page, examples, "worst" + std::to_string(index),
              before + "Largest losses");
  }
  return page.to_html();
}

}  // namespace dl::plot
