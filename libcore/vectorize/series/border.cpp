#include "libcore/vectorize/series/border.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "libcore/vectorize/series/time_column.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

Time border_of(const SeriesTable& table, double share) {
  const auto place = [&](std::size_t rows) {
    return static_cast<std::size_t>(
        std::llround(share * static_cast<double>(rows)));
  };
  constexpr Time kEnd = std::numeric_limits<Time>::infinity();
  if (table.series.size() == 1) {  // whose times are in order
    const SeriesRows& only = table.series[0];
    const std::size_t i = place(only.rows());
    return i < only.rows() ? only.times[i] : kEnd;
  }
  std::vector<Time> all;
  for (const SeriesRows& series : table.series)
    all.insert(all.end(), series.times.begin(), series.times.end());
  const std::size_t i = place(all.size());
  if (i >= all.size()) return kEnd;
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(i);
  std::ranges::nth_element(all, at);
  return *at;
}

std::function<bool(const Record&)> records_before(
    const Recipe& recipe, const std::vector<std::string>& inputs, double share,
    BadRecords& bad) {
  Recipe times = recipe;  // of the rows, and nothing else of them
  times.tensors.clear();
  SeriesSettings settings = series_settings(recipe.series);
  settings.lags.clear();
  settings.difference = 0;
  RowMaker maker(times, settings, {}, true);
  const auto source = times.open({.operands = inputs});
  const Time end = border_of(read_series(*source, maker, settings, bad), share);
  if (!settings.time.empty())
    return [column = std::make_shared<TimeColumn>(settings),
            end](const Record& record) {
      return column->of(column->text_of(record)) < end;
    };
  // The time of a row is its number in the series.
  return [seen = std::make_shared<std::map<std::string, Time>>(), end,
          key = settings.key](const Record& record) {
    return (*seen)[key.empty() ? "" : std::string(trim(record.at(key)))]++ <
           end;
  };
}

}  // namespace dl::vectorize
