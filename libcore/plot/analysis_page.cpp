// Composition of a table's page.

#include "libcore/plot/analysis_page.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/number_format.h"
#include "libcore/plot/markup.h"
#include "libcore/plot/page.h"

namespace dl::plot {
namespace {

constexpr std::size_t kLongestName = 60;

std::string name_in(const Json& column) {
  return escaped(column.at("name").get<std::string>(), kLongestName);
}

std::string percent_in(double part, double all) {
  return format("%.3g", all > 0 ? 100 * part / all : 0) + " %";
}

double count_in(const Json& json, const char* key) {
  return json.at(key).get<double>();
}

// Lines as they are, and no more than so many bytes of whole ones.
std::string lines_in(const std::string& text, std::size_t most) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (all.size() + end - at > most) return all + "…";
    all += escaped(std::string_view(text).substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return all;
}

// Bars of one width, without axes.
std::string small_histogram(const Json& counts) {
  constexpr double kSmallWidth = 240, kSmallHeight = 48;
  double most = 1;
  for (const Json& count : counts) most = std::max(most, count.get<double>());
  const double step = kSmallWidth / static_cast<double>(counts.size());
  const std::string width = format("%.0f", std::max(1.0, step - 1));
  std::string path;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double count = counts[i].get<double>();
    if (count == 0) continue;
    // A single row is seen, too.
    const std::string height =
        format("%.0f", std::max(1.0, kSmallHeight * count / most));
    path += "M" + format("%.0f", static_cast<double>(i) * step) + " 48v-" +
            height + "h" + width + "v" + height + "z";
  }
  return "<svg viewBox=\"0 0 240 48\" preserveAspectRatio=\"none\" "
         "role=\"img\" aria-label=\"Histogram\"><path d=\"" +
         path + "\"/></svg>";
}

std::string number_cell(const std::string& name, const std::string& value) {
  return "<tr><th scope=\"row\">" + name + "</th><td class=\"number\">" +
         value + "</td></tr>";
}

std::string numbers_table(const Json& column) {
  std::string rows;
  for (const char* key : {"mean", "deviation", "zeros"})
    rows += number_cell(key, readable_number(column.at(key).get<double>()));
  for (const char* share : {"5%", "25%", "50%", "75%", "95%"})
    rows += number_cell(
        share, readable_number(column.at("quantiles").at(share).get<double>()));
  return "<details><summary>Numbers</summary><table><tbody>" + rows +
         "</tbody></table></details>";
}

// The most frequent values, with bars.
std::string values_table(const Json& column, double rows, std::size_t most) {
  const Json& top = column.at("top");
  if (top.empty()) return {};
  std::string body;
  for (std::size_t i = 0; i < std::min(most, top.size()); ++i) {
    const double count = count_in(top[i], "count");
    body += "<tr><th scope=\"row\" class=\"share\" style=\"--s:" +
            format("%.2f", count / rows) + "\">" +
            escaped(top[i].at("value").get<std::string>(), 32) +
            "</th><td class=\"number\">" + percent_in(count, rows) +
            "</td></tr>";
  }
  return "<table><tbody>" + body + "</tbody></table>";
}

// alert: of the column, or none.
std::string column_card(const Json& column, double rows, bool is_wide,
                        const std::vector<std::string>& alerts) {
  constexpr std::size_t kMostOfFew = 6, kMostOfMany = 3;
  std::string card = "<article><h3>" + name_in(column) + "</h3><p>" +
                     column.at("type").get<std::string>();
  if (column.at("distinct_is_exact").get<bool>())
    card += ", " + grouped(count_in(column, "distinct")) + " different";
  else
    card +=
        ", over " + grouped(count_in(column, "distinct") - 1) + " different";
  const double missing = count_in(column, "missing");
  if (missing > 0) card += ", " + percent_in(missing, rows) + " missing";
  card += "</p>";
  for (const std::string& alert : alerts)
    card += "<p class=\"alert\">" + escaped(alert, 160) + "</p>";
  if (column.contains("histogram")) {
    card += small_histogram(column.at("histogram")) +
            "<p class=\"ends\"><span>" +
            readable_number(column.at("min").get<double>()) + "</span><span>" +
            readable_number(column.at("max").get<double>()) + "</span></p>" +
            numbers_table(column);
  } else if (column.contains("first")) {
    card += "<p class=\"ends\"><span>" +
            escaped(column.at("first").get<std::string>()) + "</span><span>" +
            escaped(column.at("last").get<std::string>()) + "</span></p>" +
            values_table(column, rows, kMostOfMany);
  } else if (column.at("type") != "id" && column.at("type") != "text") {
    card += values_table(column, rows, is_wide ? kMostOfMany : kMostOfFew);
  }
  return card + "</article>\n";
}

void add_correlations(Page& page, const Json& analysis) {
  constexpr std::size_t kMostRanks = 100;
  std::vector<const Json*> all;
  for (const Json& column : analysis.at("columns"))
    if (column.contains("correlation")) all.push_back(&column);
  if (all.empty()) return;
  const auto value = [](const Json* column) {
    return column->at("correlation").at("value").get<double>();
  };
  std::ranges::stable_sort(
      all, std::ranges::greater{},
      [&](const Json* column) { return std::abs(value(column)); });
  page.section("label",
               "Correlations with " + analysis.at("label").get<std::string>());
  page.note(
      "Pearson's r between numbers; point-biserial r between numbers and two "
      "classes; the correlation ratio (eta) between numbers and more classes; "
      "Cramér's V without its bias between classes, where a missing value is a "
      "class.");
  if (all.size() > kMostRanks)
    page.note("The strongest " + std::to_string(kMostRanks) + " of " +
              std::to_string(all.size()) + ".");
  const std::map<std::string, std::string> words = {
      {"pearson", "Pearson's r"},
      {"point_biserial", "point-biserial r"},
      {"correlation_ratio", "correlation ratio"},
      {"cramers_v", "Cramér's V"}};
  std::string body;
  for (std::size_t i = 0; i < std::min(kMostRanks, all.size()); ++i) {
    const auto measure =
        all[i]->at("correlation").at("measure").get<std::string>();
    body += "<tr><th scope=\"row\" class=\"share\" style=\"--s:" +
            format("%.3f", std::abs(value(all[i]))) + "\">" + name_in(*all[i]) +
            "</th><td>" + words.at(measure) + "</td><td class=\"number\">" +
            format("%.3f", value(all[i])) + "</td></tr>\n";
  }
  page.html(
      "<div class=\"scroll\" role=\"group\" tabindex=\"0\" "
      "aria-label=\"Correlations\"><table class=\"ranks\"><thead><tr><th "
      "scope=\"col\">Column</th><th scope=\"col\">Measure</th><th "
      "scope=\"col\" class=\"number\">Value</th></tr></thead><tbody>" +
      body + "</tbody></table></div>\n");
}

}  // namespace

std::string analysis_page(const Json& analysis, const std::string& recipe,
                          const std::string& title) {
  constexpr std::size_t kManyColumns = 100, kMostAlerts = 500;
  const Json& columns = analysis.at("columns");
  const double rows = count_in(analysis, "rows");
  Page page(title);
  page.fact("Rows", grouped(rows));
  page.fact("Columns", grouped(static_cast<double>(columns.size())));
  page.fact("Same as a row before", grouped(count_in(analysis, "duplicates")));
  double missing = 0;
  for (const Json& column : columns) missing += count_in(column, "missing");
  page.fact("Missing values",
            percent_in(missing, rows * static_cast<double>(columns.size())));
  std::map<std::string, std::vector<std::string>> of_column;
  std::vector<std::vector<std::string>> alerts;
  for (const Json& alert : analysis.at("alerts")) {
    const std::string name = alert.at("column").is_null()
                                 ? "(all)"
                                 : alert.at("column").get<std::string>();
    const auto sentence = alert.at("alert").get<std::string>();
    if (!alert.at("column").is_null()) of_column[name].push_back(sentence);
    alerts.push_back({clipped(name), sentence});
  }
  if (!alerts.empty()) {
    page.section("alerts", "Alerts");
    if (alerts.size() > kMostAlerts) {
      page.note("The first " + std::to_string(kMostAlerts) + " of " +
                std::to_string(alerts.size()) +
                "; each column below has its own.");
      alerts.resize(kMostAlerts);
    }
    page.table({"Column", "Alert"}, alerts, "Alerts");
  }
  add_correlations(page, analysis);
  page.section("columns", "Columns");
  std::string cards = "<div class=\"columns\">";
  for (const Json& column : columns)
    cards += column_card(column, rows, columns.size() > kManyColumns,
                         of_column[column.at("name").get<std::string>()]);
  page.html(cards + "</div>\n");
  page.section("recipe", "Recipe");
  page.note(
      "Proposed: dl-preprocess table makes examples by it; --print-recipe "
      "writes it to a file, to be changed by hand.");
  constexpr std::size_t kMostRecipe = std::size_t{256} << 10;
  page.html("<pre tabindex=\"0\" aria-label=\"Recipe\">" +
            lines_in(recipe, kMostRecipe) + "</pre>\n");
  return page.to_html();
}

}  // namespace dl::plot
