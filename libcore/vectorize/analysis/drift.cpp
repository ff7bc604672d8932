#include "libcore/vectorize/analysis/drift.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/number_format.h"
#include "libcore/vectorize/analysis/aligned.h"

namespace dl::vectorize {
namespace {

// Shares of rows that two tables have in the bins of a column.
struct Bins {
  std::vector<double> before, after;
  void add(double one, double other) {
    before.push_back(one);
    after.push_back(other);
  }
};

double share(std::int64_t part, std::int64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// An empty bin counts as one with this share: its logarithm has no bound.
constexpr double kEmptyBin = 1e-4;

double stability_index(const Bins& bins) {
  double sum = 0;
  for (std::size_t i = 0; i < bins.before.size(); ++i) {
    const double one = std::max(bins.before[i], kEmptyBin);
    const double other = std::max(bins.after[i], kEmptyBin);
    sum += (other - one) * std::log(other / one);
  }
  return sum;
}

// The bound that 95 % of samples of one population keep: the index is
// distributed as chi-square with bins - 1 degrees of freedom, whose quantile is
// that of Wilson and Hilferty 1931.
double stability_by_chance(const Bins& bins, std::int64_t rows_before,
                           std::int64_t rows_after) {
  constexpr double kNormal95 = 1.6449;
  std::int64_t used = 0;
  for (std::size_t i = 0; i < bins.before.size(); ++i)
    used += bins.before[i] + bins.after[i] > 0 ? 1 : 0;
  if (used < 2) return 0;
  const auto freedom = static_cast<double>(used - 1);
  const double part = 2 / (9 * freedom);
  return freedom * std::pow(1 - part + kNormal95 * std::sqrt(part), 3) *
         (1 / static_cast<double>(rows_before) +
          1 / static_cast<double>(rows_after));
}

bool is_numeric(const ColumnProfile& column) {
  return column.quantiles().count() > 0 &&
         (column.type() == ColumnType::kInteger ||
          column.type() == ColumnType::kNumber ||
          (column.type() == ColumnType::kConstant &&
           column.quantiles().count() == column.present()));
}

// Values that come again, whatever they are called.
bool has_classes(const ColumnProfile& column) {
  return column.type() == ColumnType::kCategory ||
         column.type() == ColumnType::kBoolean ||
         column.type() == ColumnType::kConstant;
}

// Between the deciles of the table before, each once.
void add_number_bins(const ColumnProfile& before, const ColumnProfile& after,
                     Bins& bins) {
  constexpr int kBinsOfNumbers = 10;
  std::vector<double> places;
  for (int i = 1; i < kBinsOfNumbers; ++i)
    places.push_back(static_cast<double>(i) / kBinsOfNumbers);
  std::vector<double> bounds = before.quantiles().at(places);
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  const auto one = before.quantiles().shares_up_to(bounds);
  const auto other = after.quantiles().shares_up_to(bounds);
  const double had = share(before.quantiles().count(), before.rows());
  const double has = share(after.quantiles().count(), after.rows());
  double below_one = 0, below_other = 0;
  for (std::size_t i = 0; i <= bounds.size(); ++i) {
    const double up_to_one = i < bounds.size() ? one[i] : 1;
    const double up_to_other = i < bounds.size() ? other[i] : 1;
    bins.add(had * (up_to_one - below_one), has * (up_to_other - below_other));
    below_one = up_to_one;
    below_other = up_to_other;
  }
}

// The most frequent values of the table before, and all others together.
void add_class_bins(const ColumnProfile& before, const ColumnProfile& after,
                    Bins& bins) {
  constexpr std::size_t kMostClassBins = 50;
  std::int64_t others_before = before.present();
  std::int64_t others_after = after.present();
  for (const auto& [value, times] : before.top(kMostClassBins)) {
    const std::int64_t later = after.count_of(value);
    bins.add(share(times, before.rows()), share(later, after.rows()));
    others_before -= times;
    others_after -= later;
  }
  bins.add(share(others_before, before.rows()),
           share(others_after, after.rows()));
}

// Values that the table before does not have; null: it has too many.
Json new_values(const ColumnProfile& before, const ColumnProfile& after) {
  constexpr std::size_t kMostNew = 10;
  if (!before.is_counted()) return nullptr;
  Json found = Json::array();
  for (const auto& [value, times] : after.top(ColumnProfile::kMostValues)) {
    if (before.count_of(value) > 0) continue;
    if (found.size() == kMostNew) break;
    found.push_back({{"value", displayed(value)},
                     {"count", times},
                     {"share", share(times, after.rows())}});
  }
  return found;
}

// Words among the numbers or dates of one table are missing in both.
Json take_strays(ColumnProfile& before, ColumnProfile& after) {
  std::set<std::string> words;
  for (const ColumnProfile* column : {&before, &after})
    for (const std::string& word : column->strays()) words.insert(word);
  if (words.empty()) return Json::array();
  const std::vector<std::string> all(words.begin(), words.end());
  before.take_as_missing(all);
  after.take_as_missing(all);
  return Json(all);
}

Json column_drift(ColumnProfile before, ColumnProfile after, double bound) {
  const Json strays = take_strays(before, after);
  Json json = {{"name", displayed(before.name())},
               {"type", name_of(before.type())},
               {"missing",
                {share(before.missing(), before.rows()),
                 share(after.missing(), after.rows())}}};
  for (const Json& word : strays)
    json["as_missing"].push_back(displayed(word.get<std::string>()));
  Bins bins;
  bins.add(share(before.missing(), before.rows()),
           share(after.missing(), after.rows()));
  const bool numbers = is_numeric(before) && is_numeric(after);
  const bool classes =
      has_classes(before) &&
      (has_classes(after) || after.type() == ColumnType::kText);
  if (numbers) {
    add_number_bins(before, after, bins);
  } else if (classes) {
    add_class_bins(before, after, bins);
    json["new"] = new_values(before, after);
  } else {  // dates, ids and texts are others each day
    bins.add(share(before.present(), before.rows()),
             share(after.present(), after.rows()));
  }
  // Ids and texts differ by the number of rows, too.
  const auto is_free = [](const ColumnProfile& column) {
    return column.type() == ColumnType::kId ||
           column.type() == ColumnType::kText;
  };
  const bool alike = numbers || (is_free(before) && is_free(after)) ||
                     classes || before.type() == after.type() ||
                     before.present() == 0 || after.present() == 0;
  if (!alike) json["type_after"] = name_of(after.type());
  const double index = stability_index(bins);
  const double chance = stability_by_chance(bins, before.rows(), after.rows());
  json["compared"] = numbers || classes ? "values" : "missing";
  json["psi"] = index;
  json["by_chance"] = chance;
  json["bins"] = {bins.before, bins.after};
  json["drifts"] = !alike || (index > bound && index > chance);
  return json;
}

std::string percent_text(double part) { return format("%.1f %%", 100 * part); }

std::string drift_words(const Json& column) {
  if (column.contains("only_in"))
    return column["only_in"] == "A" ? "gone" : "new column";
  std::string words;
  if (column["drifts"].get<bool>()) words = "drift";
  if (column.contains("type_after"))
    words += ", now " + column["type_after"].get<std::string>();
  for (const Json& word : column.value("as_missing", Json::array()))
    words += (words.empty() ? "" : ", ") + in_quotes(word.get<std::string>()) +
             " taken as missing";
  if (column["compared"] == "missing")
    words += words.empty() ? "values not compared" : ", values not compared";
  if (!column.contains("new") || column["new"].empty()) return words;
  constexpr std::size_t kMostShown = 3;
  words += words.empty() ? "new: " : ", new: ";
  const Json& values = column["new"];
  for (std::size_t i = 0; i < std::min(values.size(), kMostShown); ++i)
    words += (i == 0 ? "" : ", ") +
             clipped(values[i]["value"].get<std::string>()) + " " +
             percent_text(values[i]["share"].get<double>());
  if (values.size() > kMostShown) words += ", ...";
  return words;
}

}  // namespace

Json drift_of(const TableProfile& before, const TableProfile& after,
              double bound) {
  Json columns = Json::array();
  std::map<std::string, const ColumnProfile*> later;
  for (const ColumnProfile& column : after.columns)
    later.emplace(column.name(), &column);
  const auto add_alone = [&](const ColumnProfile& column, const char* table) {
    columns.push_back({{"name", displayed(column.name())},
                       {"type", name_of(column.type())},
                       {"only_in", table},
                       {"drifts", true}});
  };
  for (const ColumnProfile& column : before.columns) {
    const auto found = later.find(column.name());
    if (found == later.end()) {
      add_alone(column, "A");
      continue;
    }
    columns.push_back(column_drift(column, *found->second, bound));
    later.erase(found);
  }
  for (const ColumnProfile& column : after.columns)
    if (later.contains(column.name())) add_alone(column, "B");
  const auto drifted = std::ranges::count_if(
      columns, [](const Json& column) { return column["drifts"].get<bool>(); });
  return {{"rows", {before.rows, after.rows}},
          {"bound", bound},
          {"drifted", drifted},
          {"columns", std::move(columns)}};
}

std::string drift_text(const Json& drift) {
  std::vector<std::vector<std::string>> rows = {
      {"column", "type", "PSI", "by chance", "missing A", "missing B", ""}};
  for (const Json& column : drift.at("columns")) {
    auto& row = rows.emplace_back(
        std::vector<std::string>{clipped(column.at("name").get<std::string>()),
                                 column.at("type").get<std::string>()});
    if (column.contains("psi"))
      row.insert(row.end(), {format("%.4f", column["psi"].get<double>()),
                             format("%.4f", column["by_chance"].get<double>()),
                             percent_text(column["missing"][0].get<double>()),
                             percent_text(column["missing"][1].get<double>())});
    row.resize(6);
    row.push_back(drift_words(column));
  }
  return aligned(rows, 2, true);
}

}  // namespace dl::vectorize
