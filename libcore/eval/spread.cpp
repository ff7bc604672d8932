#include "libcore/eval/spread.h"

#include <cmath>

#include "libcore/base/error.h"
#include "libcore/eval/evaluation_base.h"
#include "libcore/eval/text.h"

namespace dl::eval {
namespace {

void check_same(const Evaluations& first, const Evaluations& other) {
  bool is_same = first.size() == other.size();
  for (std::size_t e = 0; is_same && e < first.size(); ++e)
    is_same = first[e]->kind() == other[e]->kind() &&
              first[e]->output() == other[e]->output() &&
              first[e]->metrics() == other[e]->metrics();
  if (!is_same) bad_data("the reports are of different evaluations");
}

// With the metric of one report each.
void put_values(Spread& spread, const std::vector<double>& values) {
  spread.mean = spread.deviation = kNaN;
  spread.reports = std::ssize(values);
  if (values.empty()) return;
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  spread.mean = sum / n;
  for (const double value : values)
    squares += (value - spread.mean) * (value - spread.mean);
  if (values.size() > 1) spread.deviation = std::sqrt(squares / (n - 1));
}

}  // namespace

std::vector<Spread> spread_of(const std::vector<Evaluations>& reports) {
  std::vector<Spread> all;
  if (reports.empty()) return all;
  for (const Evaluations& report : reports) check_same(reports[0], report);
  for (std::size_t e = 0; e < reports[0].size(); ++e)
    for (const std::string& name : reports[0][e]->metrics()) {
      std::vector<double> values;
      for (const Evaluations& report : reports)
        if (const double value = report[e]->metric(name); !std::isnan(value))
          values.push_back(value);
      all.push_back({.metric = reports[0][e]->called(name),
                     .kind = std::string(reports[0][e]->kind())});
      put_values(all.back(), values);
    }
  return all;
}

void print(std::ostream& out, const std::vector<Spread>& all) {
  Table table = {{"metric", "kind", "mean", "deviation", "reports"}};
  for (const Spread& spread : all)
    table.push_back({spread.metric, spread.kind, readable(spread.mean),
                     readable(spread.deviation),
                     std::to_string(spread.reports)});
  print(out, table);
}

Json to_json(const std::vector<Spread>& all) {
  const auto number = [](double value) {
    return std::isnan(value) ? Json() : Json(value);
  };
  Json list = Json::array();
  for (const Spread& spread : all)
    list.push_back({{"metric", spread.metric},
                    {"kind", spread.kind},
                    {"mean", number(spread.mean)},
                    {"deviation", number(spread.deviation)},
                    {"reports", spread.reports}});
  return list;
}

}  // namespace dl::eval
