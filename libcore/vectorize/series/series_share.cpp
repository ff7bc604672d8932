#include "libcore/vectorize/series/series_share.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/io/digest.h"
#include "libcore/vectorize/series/time_column.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

constexpr Time kEnd = std::numeric_limits<Time>::infinity();

std::size_t share_of(double share, std::size_t of) {
  return static_cast<std::size_t>(
      std::llround(share * static_cast<double>(of)));
}

// The time before which this part of the rows of all series lies; infinity for
// all of them.
Time border_of(const SeriesTable& table, double share) {
  if (table.series.size() == 1) {  // whose times are in order
    const SeriesRows& only = table.series[0];
    const std::size_t i = share_of(share, only.rows());
    return i < only.rows() ? only.times[i] : kEnd;
  }
  std::vector<Time> all;
  for (const SeriesRows& series : table.series)
    all.insert(all.end(), series.times.begin(), series.times.end());
  const std::size_t i = share_of(share, all.size());
  if (i >= all.size()) return kEnd;
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(i);
  std::ranges::nth_element(all, at);
  return *at;
}

// In an order by hash, so that neighbors in the input, which may be alike, are
// in different shares.
std::set<std::string> keys_of_share(const SeriesTable& table,
                                    const Share& share) {
  std::vector<std::pair<std::uint64_t, std::string>> all;
  all.reserve(table.series.size());
  for (const SeriesRows& series : table.series)
    all.emplace_back(io::digest(std::as_bytes(std::span(series.key))),
                     series.key);
  std::ranges::sort(all);
  std::set<std::string> keys;
  for (std::size_t i = share_of(share.low, all.size());
       i < share_of(share.high, all.size()); ++i)
    keys.insert(all[i].second);
  return keys;
}

std::size_t rows_before(const SeriesRows& series, Time time) {
  return static_cast<std::size_t>(std::ranges::lower_bound(series.times, time) -
                                  series.times.begin());
}

// Rows [begin, end) alone.
void keep_rows(SeriesRows& series, std::size_t width, std::size_t begin,
               std::size_t end) {
  const auto keep = [&](auto& numbers, std::size_t each) {
    if (begin > 0)
      std::move(numbers.begin() + begin * each, numbers.begin() + end * each,
                numbers.begin());
    numbers.shorten((end - begin) * each);
  };
  keep(series.times, 1);
  keep(series.values, width);
}

}  // namespace

Time take_share(SeriesTable& table, std::size_t width, const Share& share,
                SeriesTable* rows) {
  if (share.cut == SeriesCut::kKey) {
    const auto all = std::ssize(table.series);
    std::erase_if(table.series, [keys = keys_of_share(table, share)](
                                    const SeriesRows& series) {
      return !keys.contains(series.key);
    });
    if (table.series.empty())
      bad_data("--split-by key: no series falls into a part, of " +
               std::to_string(all) + ": want fewer parts");
    return -kEnd;
  }
  const Time begin = share.low > 0 ? border_of(table, share.low) : -kEnd;
  const Time end = share.high < 1 ? border_of(table, share.high) : kEnd;
  for (SeriesTable* cut : {&table, rows})
    for (std::size_t i = 0; cut && i < cut->series.size(); ++i) {
      SeriesRows& series = cut->series[i];
      keep_rows(series, width,
                share.cut == SeriesCut::kBlock ? rows_before(series, begin) : 0,
                rows_before(series, end));
    }
  return begin;
}

std::function<bool(const Record&)> records_of_share(
    const Recipe& recipe, const std::vector<std::string>& inputs,
    const Share& share, BadRecords& bad) {
  Recipe times = recipe;  // of the rows, and nothing else of them
  times.tensors.clear();
  SeriesSettings settings = series_settings(recipe.series);
  settings.lags.clear();
  settings.difference = 0;
  RowMaker maker(times, settings, {}, true);
  const auto source = times.open({.operands = inputs});
  const SeriesTable table = read_series(*source, maker, settings, bad);
  const auto key_of = [key = settings.key](const Record& record) {
    return key.empty() ? std::string() : std::string(trim(record.at(key)));
  };
  if (share.cut == SeriesCut::kKey)
    return [keys = keys_of_share(table, share), key_of](const Record& record) {
      return keys.contains(key_of(record));
    };
  const Time end = border_of(table, share.high);
  if (!settings.time.empty())
    return [column = std::make_shared<TimeColumn>(settings),
            end](const Record& record) {
      return column->of(column->text_of(record)) < end;
    };
  // The time of a row is its number in the series.
  return [seen = std::make_shared<std::map<std::string, Time>>(), end, key_of](
             const Record& record) { return (*seen)[key_of(record)]++ < end; };
}

}  // namespace dl::vectorize
