#include "libcore/vectorize/analysis/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/number_format.h"

namespace dl::vectorize {
namespace {

constexpr std::pair<const char*, double> kShares[] = {
    {"5%", 0.05}, {"25%", 0.25}, {"50%", 0.5}, {"75%", 0.75}, {"95%", 0.95}};

bool has_numbers(const ColumnProfile& column) {
  return column.type() == ColumnType::kInteger ||
         column.type() == ColumnType::kNumber;
}

Json column_json(const ColumnProfile& column) {
  constexpr std::size_t kTopValues = 10;
  Json json = {{"name", column.name()},
               {"type", name_of(column.type())},
               {"missing", column.missing()},
               {"distinct", column.distinct()},
               {"distinct_is_exact", column.is_counted()}};
  Json top = Json::array();
  for (const auto& [value, count] : column.top(kTopValues))
    top.push_back({{"value", displayed(value)}, {"count", count}});
  json["top"] = top;
  if (column.type() == ColumnType::kDate) json["format"] = column.date_format();
  if (!has_numbers(column)) return json;
  json["min"] = column.min();
  json["max"] = column.max();
  json["mean"] = column.mean();
  json["deviation"] = column.deviation();
  json["zeros"] = column.zeros();
  for (const auto& [name, share] : kShares)
    json["quantiles"][name] = column.quantiles().at(share);
  json["quantile_error"] = column.quantiles().error();
  return json;
}

std::string percent(std::int64_t part, std::int64_t all) {
  return format("%.1f %%",
                100.0 * static_cast<double>(part) / static_cast<double>(all));
}

// Sentences about a column that want to be looked at.
class Alerts {
 public:
  explicit Alerts(Json& to) : to_(to) {}

  void look_at(const ColumnProfile& column, bool is_label) {
    constexpr double kMuch = 0.05;
    name_ = column.name();
    const ColumnType type = column.type();
    if (type == ColumnType::kEmpty) return add("no values");
    if (type == ColumnType::kConstant) return add("always the same");
    if (type == ColumnType::kId) add("another value in every row, as ids have");
    if (static_cast<double>(column.missing()) >
        kMuch * static_cast<double>(column.rows()))
      add(percent(column.missing(), column.rows()) + " missing");
    for (const std::string& word : column.strays())
      add((type == ColumnType::kDate ? "dates, and " : "numbers, and ") +
          in_quotes(word));
    if (type == ColumnType::kDate && column.has_other_date_format())
      add(std::string("dates may be ") + column.date_format() +
          ", or have day and month the other way round");
    look_at_skew(column);
    if (is_label) look_at_classes(column);
  }

 private:
  void add(const std::string& alert) {
    to_.push_back({{"column", displayed(name_)}, {"alert", alert}});
  }

  // The mean and the median of two values say nothing, nor do those of numbers
  // that are nearly the same.
  void look_at_skew(const ColumnProfile& column) {
    constexpr double kHalf = 0.5, kSkewed = 1, kSame = 1e-6;
    if (!has_numbers(column) || column.deviation() == 0 ||
        (column.is_counted() && column.distinct() <= 2))
      return;
    const double mean = column.mean(), median = column.quantiles().at(kHalf);
    const double apart = std::abs(mean - median);
    if (3 * apart > kSkewed * column.deviation() &&
        apart > kSame * std::abs(mean))
      add(format("skewed: its mean is %.4g", mean) +
          format(", its median %.4g", median) + " (\"log\" of a recipe)");
  }

  void look_at_classes(const ColumnProfile& label) {
    constexpr std::size_t kMostShown = 20;
    constexpr std::int64_t kRare = 100;  // one of so many
    if (label.missing() > 0) add("the label is missing in some rows");
    if (label.distinct() > kMostShown) return;
    for (const auto& [value, count] : label.top(kMostShown))
      if (count * kRare < label.present())
        add("the rare class " + in_quotes(value) + ", " +
            counted(count, "row"));
  }

  Json& to_;
  std::string name_;
};

std::string number_text(const Json& column, const char* key) {
  return column.contains(key) ? format("%.5g", column.at(key).get<double>())
                              : "";
}

// Cells in columns, the first of which is at the left, the others at the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.at(0).size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      line += (i == 0 ? "" : "  ");
      line += i < 2 ? row[i] + blanks : blanks + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string top_text(const Json& column) {
  constexpr std::size_t kMost = 5;
  std::string line = clipped(column.at("name").get<std::string>()) + ":";
  const Json& top = column.at("top");
  for (std::size_t i = 0; i < std::min(top.size(), kMost); ++i)
    line += (i == 0 ? " " : ", ") +
            clipped(top[i].at("value").get<std::string>()) + " " +
            std::to_string(top[i].at("count").get<std::int64_t>());
  if (top.size() > kMost) line += ", ...";
  return line;
}

}  // namespace

Json analysis_of(const TableProfile& table, const std::string& label) {
  Json columns = Json::array(), alerts = Json::array();
  Alerts all(alerts);
  for (const ColumnProfile& column : table.columns) {
    columns.push_back(column_json(column));
    all.look_at(column, column.name() == label);
  }
  if (table.duplicates > 0)
    alerts.push_back({{"column", nullptr},
                      {"alert", counted(table.duplicates, "row") +
                                    (table.duplicates == 1 ? " is" : " are") +
                                    " the same as one before"}});
  return {{"rows", table.rows},
          {"duplicates", table.duplicates},
          {"columns", columns},
          {"alerts", alerts}};
}

std::string analysis_text(const Json& analysis) {
  std::vector<std::vector<std::string>> rows = {
      {"column", "type", "missing", "distinct", "min", "mean", "max",
       "deviation", "5%", "25%", "50%", "75%", "95%"}};
  std::string tops, alerts;
  for (const Json& column : analysis.at("columns")) {
    const bool is_exact = column.at("distinct_is_exact").get<bool>();
    auto& row = rows.emplace_back(std::vector<std::string>{
        clipped(column.at("name").get<std::string>()),
        column.at("type").get<std::string>(),
        std::to_string(column.at("missing").get<std::int64_t>()),
        (is_exact ? "" : ">=") +
            std::to_string(column.at("distinct").get<std::int64_t>()),
        number_text(column, "min"), number_text(column, "mean"),
        number_text(column, "max"), number_text(column, "deviation")});
    for (const auto& [name, share] : kShares)
      row.push_back(column.contains("quantiles")
                        ? number_text(column.at("quantiles"), name)
                        : "");
    const std::string type = column.at("type").get<std::string>();
    if (type == "category" || type == "boolean")
      tops += top_text(column) + "\n";
  }
  for (const Json& alert : analysis.at("alerts"))
    alerts += (alert.at("column").is_null()
                   ? ""
                   : clipped(alert.at("column").get<std::string>()) + ": ") +
              alert.at("alert").get<std::string>() + "\n";
  std::string text = counted(analysis.at("rows").get<std::int64_t>(), "row") +
                     "\n\n" + aligned(rows);
  if (!tops.empty()) text += "\nmost frequent values\n" + tops;
  if (!alerts.empty()) text += "\nalerts\n" + alerts;
  return text;
}

}  // namespace dl::vectorize
