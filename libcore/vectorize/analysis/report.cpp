#include "libcore/vectorize/analysis/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/number_format.h"
#include "libcore/vectorize/analysis/aligned.h"

namespace dl::vectorize {
namespace {

constexpr std::pair<const char*, double> kShares[] = {
    {"5%", 0.05}, {"25%", 0.25}, {"50%", 0.5}, {"75%", 0.75}, {"95%", 0.95}};

bool has_numbers(const ColumnProfile& column) {
  return column.type() == ColumnType::kInteger ||
         column.type() == ColumnType::kNumber;
}

// Rows in bins of one width from the least number to the greatest.
Json histogram_of(const ColumnProfile& column) {
  constexpr std::size_t kMostBins = 24;
  const std::size_t bins =
      column.max() > column.min()
          ? std::min(kMostBins, std::max<std::size_t>(2, column.distinct()))
          : 1;
  std::vector<double> bounds(bins);
  for (std::size_t i = 0; i < bins; ++i)
    bounds[i] = column.min() + (column.max() - column.min()) *
                                   static_cast<double>(i + 1) /
                                   static_cast<double>(bins);
  bounds.back() = column.max();
  const auto up_to = column.quantiles().shares_up_to(bounds);
  const auto count = static_cast<double>(column.quantiles().count());
  Json counts = Json::array();
  for (std::size_t i = 0; i < bins; ++i)
    counts.push_back(
        std::llround(count * (up_to[i] - (i == 0 ? 0 : up_to[i - 1]))));
  return counts;
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
  if (column.type() == ColumnType::kDate) {
    json["format"] = column.date_format();
    if (const auto range = column.date_range()) {
      json["first"] = date_text(range->first);
      json["last"] = date_text(range->last);
    }
  }
  if (!has_numbers(column)) return json;
  json["min"] = column.min();
  json["max"] = column.max();
  json["mean"] = column.mean();
  json["deviation"] = column.deviation();
  json["zeros"] = column.zeros();
  std::vector<double> shares;
  for (const auto& [name, share] : kShares) shares.push_back(share);
  const auto quantiles = column.quantiles().at(shares);
  for (std::size_t i = 0; i < quantiles.size(); ++i)
    json["quantiles"][kShares[i].first] = quantiles[i];
  json["quantile_error"] = column.quantiles().error();
  json["histogram"] = histogram_of(column);
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
    if (column.looks_like_comma_numbers()) add(kCommaNumbers);
    look_at_words(column);
    look_at_skew(column);
    if (is_label) look_at_classes(column);
  }

  // Looks at the column of the last look_at().
  void look_at_leak(const Association& with_label, const std::string& label) {
    constexpr double kLeak = 0.98;
    const std::string leak = "may be a leak of the label: ";
    if (std::abs(with_label.value) >= kLeak)
      add(leak + "its " + measure_text(with_label.measure) + " with " +
          in_quotes(label) + format(" is %.3f", with_label.value));
    if (with_label.of_missing >= kLeak)
      add(leak + "where it is missing tells " + in_quotes(label) +
          format(", by Cramér's V of %.3f", with_label.of_missing));
  }

 private:
  void add(const std::string& alert) {
    to_.push_back({{"column", displayed(name_)}, {"alert", alert}});
  }

  void look_at_words(const ColumnProfile& column) {
    constexpr double kSome = 0.05;
    if (has_numbers(column) || column.type() == ColumnType::kDate) return;
    const double numbers = static_cast<double>(column.quantiles().count()) /
                           static_cast<double>(column.present());
    if (numbers > kSome && numbers < 1 - kSome)
      add("mixed types: numbers in " + format("%.1f %%", 100 * numbers) +
          " of the rows, words in the others");
    if (column.type() == ColumnType::kText && column.is_nearly_unique())
      add("nearly another value in every row, as ids and names have");
  }

  // A long tail above that "log" would shorten: the upper 45 % of the values
  // reach three times as far as the lower ones, and with it no longer do.
  void look_at_skew(const ColumnProfile& column) {
    constexpr double kPlaces[] = {0.05, 0.5, 0.95};
    constexpr double kSkewed = 3, kStill = 4.5;
    constexpr std::size_t kFewValues = 20;
    if (!has_numbers(column) || column.min() < 0 ||
        (column.is_counted() && column.distinct() < kFewValues))
      return;
    const auto at = column.quantiles().at(kPlaces);
    const double low = at[0], median = at[1], high = at[2];
    const double far = (high - median) / (median - low);
    const double with_log = (std::log1p(high) - std::log1p(median)) /
                            (std::log1p(median) - std::log1p(low));
    if (median > low && far >= kSkewed && with_log <= kStill &&
        1.5 * with_log <= far)
      add(format("skewed: 5 %% are below %.4g", low) +
          format(", half below %.4g", median) +
          format(", 5 %% above %.4g", high) + " (\"log\" of a recipe)");
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

// The end of a range of numbers, or of dates.
std::string end_text(const Json& column, const char* key, const char* of_date) {
  return column.contains(of_date) ? column.at(of_date).get<std::string>()
                                  : number_text(column, key);
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

// Correlations with the label, the strongest first.
std::string correlations_text(const Json& analysis) {
  std::vector<const Json*> all;
  for (const Json& column : analysis.at("columns"))
    if (column.contains("correlation")) all.push_back(&column);
  if (all.empty()) return {};
  const auto value = [](const Json* column) {
    return column->at("correlation").at("value").get<double>();
  };
  std::ranges::stable_sort(
      all, std::ranges::greater{},
      [&](const Json* column) { return std::abs(value(column)); });
  std::vector<std::vector<std::string>> rows;
  rows.reserve(all.size());
  for (const Json* column : all)
    rows.push_back(
        {clipped(column->at("name").get<std::string>()),
         measure_text(
             column->at("correlation").at("measure").get<std::string>()),
         format("%.3f", value(column))});
  return "\ncorrelations with " +
         clipped(analysis.at("label").get<std::string>()) + "\n" +
         aligned(rows, 2);
}

}  // namespace

Json analysis_of(const TableProfile& table, const std::string& label,
                 const std::map<std::string, Association>& with_label) {
  Json columns = Json::array(), alerts = Json::array();
  Alerts all(alerts);
  for (const ColumnProfile& column : table.columns) {
    columns.push_back(column_json(column));
    all.look_at(column, column.name() == label);
    const auto found = with_label.find(column.name());
    if (found == with_label.end()) continue;
    columns.back()["correlation"] = {{"measure", found->second.measure},
                                     {"value", found->second.value}};
    all.look_at_leak(found->second, label);
  }
  if (table.duplicates > 0)
    alerts.push_back({{"column", nullptr},
                      {"alert", counted(table.duplicates, "row") +
                                    (table.duplicates == 1 ? " is" : " are") +
                                    " the same as one before"}});
  return {{"rows", table.rows},
          {"duplicates", table.duplicates},
          {"label", label.empty() ? Json() : Json(displayed(label))},
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
        end_text(column, "min", "first"), number_text(column, "mean"),
        end_text(column, "max", "last"), number_text(column, "deviation")});
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
                     "\n\n" + aligned(rows, 2);
  if (!tops.empty()) text += "\nmost frequent values\n" + tops;
  text += correlations_text(analysis);
  if (!alerts.empty()) text += "\nalerts\n" + alerts;
  return text;
}

}  // namespace dl::vectorize
