#include "libcore/vectorize/series/series_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/series/time_column.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

std::string digits_of_float(float value) {
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

// Puts rows in the order of time; equal times stay in that of the input.
void sort_rows(SeriesRows& series, std::size_t width) {
  if (std::ranges::is_sorted(series.times)) return;
  std::vector<std::size_t> order(series.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return series.times[i]; });
  SeriesRows sorted{series.key, {}, series.last_time, {}};
  sorted.times.reserve(series.rows());
  sorted.values.reserve(series.values.size());
  for (const std::size_t i : order) {
    sorted.times.push_back(series.times[i]);
    const auto row = series.row(i, width);
    sorted.values.append(row);
  }
  series = std::move(sorted);
}

std::string name_of_series(const SeriesRows& series) {
  return series.key.empty() ? "" : " of " + in_quotes(series.key);
}

void refuse_twins(const SeriesRows& series, bool are_numbers) {
  const auto twin = std::ranges::adjacent_find(series.times);
  if (twin == series.times.end()) return;
  bad_data("two rows" + name_of_series(series) + " have the time " +
           time_text(*twin, are_numbers) +
           (series.key.empty()
                ? ": name the column that tells their series apart (--key), or "
                  "make steps of the rows (--every)"
                : ": keep one of them, or make steps of the rows (--every)"));
}

// The line through the numbers of a column, looked at from front to back.
class ColumnLine {
 public:
  explicit ColumnLine(std::size_t column) : column_(column) {}

  // row: the first at `time` or later.
  float at(const SeriesRows& series, std::size_t width, std::size_t row,
           Time time) {
    const auto value = [&](std::size_t i) {
      return series.values[i * width + column_];
    };
    for (; next_ < row || (next_ < series.rows() && std::isnan(value(next_)));
         ++next_)
      if (!std::isnan(value(next_))) before_ = next_;
    if (next_ == series.rows()) return kNoNumber;
    const float next = value(next_);
    if (series.times[next_] == time || !before_)
      return series.times[next_] == time ? next : kNoNumber;
    const float before = value(*before_);
    const double share = (time - series.times[*before_]) /
                         (series.times[next_] - series.times[*before_]);
    return static_cast<float>(before + share * (double{next} - before));
  }

 private:
  std::size_t column_;
  std::size_t next_ = 0;  // the row with its next number
  std::optional<std::size_t> before_;
};

// Rows within steps of one length.
class Resampler {
 public:
  Resampler(const RowMaker& maker, const SeriesSettings& settings, Time origin)
      : columns_(maker.columns()),
        step_(*settings.every),
        by_(settings.by),
        origin_(origin) {}

  // Returns how many steps have no row.
  std::int64_t resample(SeriesRows& series) const {
    constexpr std::int64_t kMostSteps = std::int64_t{1} << 31;
    const std::int64_t first = step_.of(series.times.front(), origin_),
                       last = step_.of(series.times.back(), origin_);
    if (last - first >= kMostSteps)
      bad_data("a series" + name_of_series(series) + " is " +
               std::to_string(last - first + 1) +
               " steps long: --every is "
               "too short, or a time is wrong");
    SeriesRows made{series.key, {}, series.last_time, {}};
    const std::size_t width = columns_.size();
    std::vector<ColumnLine> lines;
    lines.reserve(width);
    for (std::size_t c = 0; c < width; ++c) lines.emplace_back(c);
    std::int64_t empty = 0;
    std::size_t at = 0;
    for (std::int64_t i = first; i <= last; ++i) {
      std::size_t end = at;
      while (end < series.rows() && step_.of(series.times[end], origin_) == i)
        ++end;
      made.times.push_back(step_.begin(i, origin_));
      empty += end == at ? 1 : 0;
      for (std::size_t c = 0; c < width; ++c)
        made.values.push_back(
            value(series, lines, at, end, c, made.times.back()));
      at = end;
    }
    series = std::move(made);
    return empty;
  }

 private:
  float value(const SeriesRows& series, std::vector<ColumnLine>& lines,
              std::size_t begin, std::size_t end, std::size_t column,
              Time time) const {
    const std::size_t width = columns_.size();
    const auto at = [&](std::size_t row) {
      return series.values[row * width + column];
    };
    if (columns_[column] != RowColumn::kNumber || by_ == Resampling::kLast) {
      for (std::size_t row = end; row > begin; --row)
        if (!std::isnan(at(row - 1))) return at(row - 1);
      // A column of no numbers goes on as it was.
      const bool goes_on = columns_[column] != RowColumn::kNumber && begin > 0;
      return goes_on ? at(begin - 1) : kNoNumber;
    }
    if (by_ == Resampling::kInterpolate)
      return lines[column].at(series, width, begin, time);
    double sum = 0;
    std::int64_t count = 0;
    for (std::size_t row = begin; row < end; ++row)
      if (!std::isnan(at(row))) {
        sum += at(row);
        ++count;
      }
    if (count == 0) return kNoNumber;
    return static_cast<float>(
        by_ == Resampling::kSum ? sum : sum / static_cast<double>(count));
  }

  std::vector<RowColumn> columns_;
  TimeStep step_;
  Resampling by_;
  Time origin_;
};

// Collects records by their keys.
class Collector {
 public:
  Collector(RowMaker& maker, const SeriesSettings& settings)
      : maker_(maker), settings_(settings), fixed_(maker.fixed()) {
    if (!settings.time.empty()) time_.emplace(settings);
    row_.resize(maker.width(), kNoNumber);
  }
  void add(const Record& record) {
    if (!record.problem.empty()) bad_data(record.problem);
    const std::string_view text =
        time_ ? time_->text_of(record) : std::string_view();
    const Time time = time_ ? time_->of(text) : 0;
    const std::string key = settings_.key.empty()
                                ? ""
                                : std::string(trim(record.at(settings_.key)));
    maker_.put(record, row_);
    const auto [found, is_new] = places_.emplace(key, table_.series.size());
    if (is_new) {
      table_.series.push_back({key, {}, {}, {}});
      fixed_values_.resize(table_.series.size() * fixed_.size(), kNoNumber);
    }
    check_fixed(found->second, key);
    SeriesRows& to = table_.series[found->second];
    if (to.times.empty() || time >= last_times_[found->second]) {
      last_times_.resize(table_.series.size());
      last_times_[found->second] = time;
      to.last_time = text;
    }
    to.times.push_back(time_ ? time : static_cast<Time>(to.rows()));
    to.values.append(row_);
  }
  SeriesTable& table() {
    if (time_) table_.form = time_->form();
    return table_;
  }

 private:
  // Columns of which a series has one value, which may be missing.
  void check_fixed(std::size_t series, const std::string& key) {
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      const float value = row_[fixed_[i].first];
      float& known = fixed_values_[series * fixed_.size() + i];
      if (std::isnan(known)) known = value;
      if (known == value || std::isnan(value)) continue;
      bad_data("column " + in_quotes(fixed_[i].second) + " is static, and " +
               digits_of_float(value) + " where rows" +
               (key.empty() ? std::string(" before")
                            : " of " + in_quotes(key) + " before") +
               " have " + digits_of_float(known) +
               ": leave it out of --static (features/static of a recipe)");
    }
  }

  RowMaker& maker_;
  const SeriesSettings& settings_;
  std::optional<TimeColumn> time_;
  std::vector<float> row_;
  std::vector<std::pair<std::size_t, std::string>> fixed_;
  std::vector<float> fixed_values_;  // [series, fixed_]
  std::vector<Time> last_times_;     // of each series
  std::map<std::string, std::size_t, std::less<>> places_;
  SeriesTable table_;
};

}  // namespace

SeriesTable SeriesTable::copy() const {
  SeriesTable to{{}, records, empty_steps, step, origin, form};
  for (const SeriesRows& from : series) {
    SeriesRows& rows =
        to.series.emplace_back(SeriesRows{from.key, {}, from.last_time, {}});
    rows.times.append(from.times);
    rows.values.append(from.values);
  }
  return to;
}

SeriesTable read_rows(RecordSource& source, RowMaker& maker,
                      const SeriesSettings& settings, BadRecords& bad) {
  Collector collector(maker, settings);
  std::int64_t records = 0;
  for (Record record; source.next(record);) {
    ++records;
    try {
      collector.add(record);
    } catch (const Error& e) {
      if (e.code() != Code::kData) throw;
      bad.add(record.place() + ": " + e.what());
    }
  }
  SeriesTable& table = collector.table();
  table.records = records;
  if (table.series.empty()) return std::move(table);
  const bool are_numbers = settings.time.empty() || settings.has_number_times();
  for (SeriesRows& series : table.series) sort_rows(series, maker.width());
  if (settings.every) {
    Time first = table.series[0].times[0];
    for (const SeriesRows& series : table.series)
      first = std::min(first, series.times[0]);
    table.origin = settings.origin
                       ? *settings.origin
                       : usual_origin(first, *settings.every, are_numbers);
    table.step = *settings.every;
  } else {
    const auto longest =
        std::ranges::max_element(table.series, {}, &SeriesRows::rows);
    for (const SeriesRows& series : table.series)
      refuse_twins(series, are_numbers);
    table.step = usual_step(longest->times, are_numbers);
  }
  return std::move(table);
}

void make_steps(SeriesTable& table, const RowMaker& maker,
                const SeriesSettings& settings) {
  if (settings.every) {
    const Resampler resampler(maker, settings, table.origin);
    for (SeriesRows& series : table.series)
      if (series.rows() > 0) table.empty_steps += resampler.resample(series);
  }
  for (SeriesRows& series : table.series)
    for (std::size_t i = 0; i < series.rows(); ++i)
      maker.put_calendar(series.times[i], series.row(i, maker.width()));
}

SeriesTable read_series(RecordSource& source, RowMaker& maker,
                        const SeriesSettings& settings, BadRecords& bad) {
  SeriesTable table = read_rows(source, maker, settings, bad);
  make_steps(table, maker, settings);
  return table;
}

std::int64_t fill_gaps(SeriesRows& series, const RowMaker& maker,
                       const SeriesSettings& settings) {
  if (settings.gaps == Gaps::kCut) return 0;
  const std::size_t width = maker.width(), rows = series.rows();
  std::int64_t filled = 0;
  for (std::size_t c = 0; c < width; ++c) {
    const auto at = [&](std::size_t row) -> float& {
      return series.values[row * width + c];
    };
    std::size_t before = rows;  // the last row with a number
    for (std::size_t i = 0; i < rows; ++i) {
      if (std::isnan(at(i))) continue;
      for (std::size_t k = before + 1; before < rows && k < i; ++k) {
        if (settings.gaps == Gaps::kFail)
          bad_data("a number" + name_of_series(series) + " is missing at " +
                   time_text(series.times[k], settings.time.empty() ||
                                                  settings.has_number_times()) +
                   " (gaps: cut, interpolate or previous lets it pass)");
        const double share = (series.times[k] - series.times[before]) /
                             (series.times[i] - series.times[before]);
        at(k) = settings.gaps == Gaps::kPrevious
                    ? at(before)
                    : static_cast<float>(at(before) +
                                         share * (double{at(i)} - at(before)));
        ++filled;
      }
      before = i;
    }
  }
  return filled;
}

}  // namespace dl::vectorize
