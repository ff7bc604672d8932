// Profiles of columns that are merged, saved and loaded.

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/analysis/column_profile.h"

namespace dl::vectorize {
namespace {

constexpr std::int64_t kMostRows = std::int64_t{1} << 53;
constexpr double kMostSquares = 1e96;

using CountedValues = std::vector<std::pair<std::string, std::int64_t>>;

Json counts_json(const CountedValues& values) {
  Json all = Json::array();
  for (const auto& [value, times] : values) all.push_back({value, times});
  return all;
}

CountedValues counts_of(const JsonView& json) {
  CountedValues all(json.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = {json.at(i).at(0).string(),
              json.at(i).at(1).integer(1, kMostRows)};
  return all;
}

// Refuses counts of more than `most` values in all.
CountedValues counts_of(const JsonView& json, std::int64_t most) {
  CountedValues all = counts_of(json);
  std::int64_t left = most;
  for (const auto& [value, times] : all)
    if ((left -= times) < 0)
      json.fail("counts of " + std::to_string(most) + " values at most");
  return all;
}

// As large as numbers of a column may be.
double column_number(const JsonView& json) {
  const double value = json.number();
  if (std::abs(value) > std::numeric_limits<float>::max())
    json.fail("a number that 32 bits can hold");
  return value;
}

}  // namespace

void ColumnProfile::merge(const ColumnProfile& next) {
  const auto own = static_cast<double>(numbers_);
  const auto other = static_cast<double>(next.numbers_);
  if (next.numbers_ > 0) {
    counts_up_ = counts_up_ && next.counts_up_ &&
                 (!has_order_ || next.first_ == last_ + 1);
    min_ = numbers_ == 0 ? next.min_ : std::min(min_, next.min_);
    max_ = numbers_ == 0 ? next.max_ : std::max(max_, next.max_);
    if (!has_order_) first_ = next.first_;
    last_ = next.last_;
    has_order_ = has_order_ || next.has_order_;
    // Chan, Golub, LeVeque 1979.
    const double apart = next.mean_ - mean_;
    squares_ += next.squares_ + apart * apart * own * other / (own + other);
    mean_ += apart * other / (own + other);
  }
  rows_ += next.rows_;
  missing_ += next.missing_;
  comma_numbers_ += next.comma_numbers_;
  numbers_ += next.numbers_;
  integers_ += next.integers_;
  booleans_ += next.booleans_;
  zeros_ += next.zeros_;
  quantiles_.merge(next.quantiles_);
  for (const auto& [word, times] : next.no_numbers_.words)
    no_numbers_.add(word, times);
  for (const auto& [word, times] : next.no_dates_.words)
    no_dates_.add(word, times);
  for (std::size_t i = 0; i < dates_.size(); ++i) dates_[i] += next.dates_[i];
  for (std::size_t i = 0; i < ranges_.size(); ++i)
    ranges_[i] = {std::min(ranges_[i].first, next.ranges_[i].first),
                  std::max(ranges_[i].last, next.ranges_[i].last)};
  any_dates_ += next.any_dates_;
  looked_at_ += next.looked_at_;
  are_words_ = are_words_ || next.are_words_;
  has_long_integers_ = has_long_integers_ || next.has_long_integers_;
  for (const ValueCounts::Entry& later : next.values_.entries()) {
    ValueCounts::Entry& entry = values_.at(later.text);
    if (entry.count > 0) repeated_ = true;
    entry.count += later.count;
    entry.settled = entry.count;
  }
  told_apart_ += next.told_apart_;
  repeated_ = repeated_ || next.repeated_;
  overflowed_ = overflowed_ || next.overflowed_ || values_.size() > kMostValues;
  has_time_ = has_time_ || next.has_time_;
  has_spaces_ = has_spaces_ || next.has_spaces_;
  longest_ = std::max(longest_, next.longest_);
  bytes_ += next.bytes_;
}

Json ColumnProfile::state() const {
  return {{"name", name_},
          {"rows", rows_},
          {"missing", missing_},
          {"numbers", numbers_},
          {"integers", integers_},
          {"booleans", booleans_},
          {"zeros", zeros_},
          {"min", min_},
          {"max", max_},
          {"mean", mean_},
          {"squares", squares_},
          {"first", first_},
          {"last", last_},
          {"counts_up", counts_up_},
          {"quantiles", quantiles_.state()},
          {"values", counts_json(top(overflowed_ ? kKeptValues : kMostValues))},
          {"no_numbers",
           counts_json({no_numbers_.words.begin(), no_numbers_.words.end()})},
          {"no_dates",
           counts_json({no_dates_.words.begin(), no_dates_.words.end()})},
          {"overflowed", overflowed_},
          {"repeated", repeated_},
          {"told_apart", told_apart_},
          {"dates", dates_},
          {"date_ranges", ranges_json()},
          {"any_dates", any_dates_},
          {"looked_at", looked_at_},
          {"are_words", are_words_},
          {"has_long_integers", has_long_integers_},
          {"has_order", has_order_},
          {"has_time", has_time_},
          {"has_spaces", has_spaces_},
          {"longest", longest_},
          {"bytes", bytes_}};
}

// A pair of seconds for each format, or null.
Json ColumnProfile::ranges_json() const {
  Json all = Json::array();
  for (const DateRange& range : ranges_)
    all.push_back(range.first > range.last ? Json()
                                           : Json{range.first, range.last});
  return all;
}

void ColumnProfile::take_ranges(const JsonView& json) {
  constexpr std::int64_t kMost = 400'000'000'000;  // years of four digits
  if (json.size() != ranges_.size())
    json.fail(std::to_string(ranges_.size()) + " ranges");
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const JsonView range = json.at(i);
    if (range.raw().is_null()) continue;
    const auto ends = range.integers(-kMost, kMost);
    if (ends.size() != 2 || ends[0] > ends[1])
      range.fail("two times, the earlier one first");
    ranges_[i] = {ends[0], ends[1]};
  }
}

ColumnProfile ColumnProfile::of_state(const JsonView& json) {
  const auto count = [&](const char* key) {
    return json.at(key).integer(0, kMostRows);
  };
  ColumnProfile all(json.at("name").string());
  all.rows_ = count("rows");
  all.missing_ = json.at("missing").integer(0, all.rows_);
  all.numbers_ = json.at("numbers").integer(0, all.present());
  all.integers_ = json.at("integers").integer(0, all.numbers_);
  all.booleans_ = json.at("booleans").integer(0, all.present());
  all.zeros_ = json.at("zeros").integer(0, all.numbers_);
  all.min_ = column_number(json.at("min"));
  all.max_ = column_number(json.at("max"));
  all.mean_ = column_number(json.at("mean"));
  all.squares_ = json.at("squares").number();
  if (all.max_ < all.min_) json.at("max").fail("no less than min");
  if (!(all.squares_ >= 0 && all.squares_ <= kMostSquares))
    json.at("squares").fail("a number from 0 to 1e96");
  all.first_ = column_number(json.at("first"));
  all.last_ = column_number(json.at("last"));
  all.counts_up_ = json.at("counts_up").boolean();
  all.quantiles_ = Quantiles::of_state(json.at("quantiles"));
  if (all.quantiles_.count() != all.numbers_)
    json.at("quantiles").fail("those of " + std::to_string(all.numbers_));
  all.overflowed_ = json.at("overflowed").boolean();
  all.told_apart_ =
      json.at("told_apart")
          .integer(all.overflowed_ ? 0 : all.present(), all.present());
  std::int64_t counted = 0;
  for (const auto& [value, times] :
       counts_of(json.at("values"), all.told_apart_)) {
    ValueCounts::Entry& entry = all.values_.at(value);
    if (entry.count > 0) json.at("values").fail("each value once");
    entry.count = entry.settled = times;
    counted += times;
  }
  if (!all.overflowed_ && counted != all.told_apart_)
    json.at("values").fail("counts of " + std::to_string(all.told_apart_) +
                           " values");
  if (all.values_.size() > kMostValues)
    json.at("values").fail(std::to_string(kMostValues) + " at most");
  all.looked_at_ = json.at("looked_at").integer(0, all.present());
  all.any_dates_ = json.at("any_dates").integer(0, all.looked_at_);
  for (const auto& [word, times] :
       counts_of(json.at("no_numbers"), all.present() - all.numbers_))
    all.no_numbers_.add(word, times);
  for (const auto& [word, times] :
       counts_of(json.at("no_dates"), all.looked_at_ - all.any_dates_))
    all.no_dates_.add(word, times);
  all.repeated_ = json.at("repeated").boolean();
  const auto dates = json.at("dates").integers(0, all.any_dates_);
  if (dates.size() != all.dates_.size())
    json.at("dates").fail(std::to_string(all.dates_.size()) + " counts");
  all.dates_ = dates;
  // Earlier ones have none.
  if (json.raw().contains("date_ranges"))
    all.take_ranges(json.at("date_ranges"));
  all.are_words_ = json.at("are_words").boolean();
  all.has_long_integers_ = json.at("has_long_integers").boolean();
  all.has_order_ = json.at("has_order").boolean();
  all.has_time_ = json.at("has_time").boolean();
  all.has_spaces_ = json.at("has_spaces").boolean();
  all.longest_ = static_cast<std::size_t>(count("longest"));
  all.bytes_ = count("bytes");
  return all;
}

std::int64_t ColumnProfile::count_of(const std::string& value) const {
  const ValueCounts::Entry* found = values_.find(value);
  return found == nullptr ? 0 : found->count;
}

}  // namespace dl::vectorize
