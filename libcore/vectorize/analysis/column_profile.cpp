#include "libcore/vectorize/analysis/column_profile.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "libcore/vectorize/source/thousands.h"
#include "libcore/vectorize/table/dates.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

// More words than these among numbers or dates are no slips.
constexpr std::size_t kMostStrays = 3;

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// 1, 0, or -1: none.
int truth_of(std::string_view text) {
  constexpr std::size_t kLongest = 5;
  if (text.size() > kLongest) return -1;
  const std::string lower = in_lower_case(text);
  for (const char* word : {"true", "t", "yes", "y", "on"})
    if (lower == word) return 1;
  for (const char* word : {"false", "f", "no", "n", "off"})
    if (lower == word) return 0;
  return -1;
}

const std::vector<DateFormat>& date_formats() {
  static const std::vector<DateFormat> all(known_date_formats().begin(),
                                           known_date_formats().end());
  return all;
}

bool is_number(std::string_view text, double& value) {
  return parse_number(text, value) && std::isfinite(value) &&
         std::abs(value) <= std::numeric_limits<float>::max();
}

// "id", "customer_id", "CustomerID", "customerId".
bool is_called_id(std::string_view name) {
  if (in_lower_case(name) == "id") return true;
  return name.ends_with("_id") || name.ends_with("_ID") ||
         name.ends_with("-id") || name.ends_with(" id") ||
         name.ends_with(" ID") || name.ends_with("Id") || name.ends_with("ID");
}

}  // namespace

std::string_view name_of(ColumnType type) {
  constexpr std::array<std::string_view, 9> kNames = {
      "empty", "constant", "integer", "number", "boolean",
      "date",  "category", "id",      "text"};
  return kNames.at(static_cast<std::size_t>(type));
}

std::vector<std::string> usual_missing_words() {
  return {"NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "?"};
}

ColumnProfile::ColumnProfile(std::string name)
    : name_(std::move(name)),
      dates_(date_formats().size()),
      ranges_(dates_.size(), {std::numeric_limits<Seconds>::max(),
                              std::numeric_limits<Seconds>::min()}) {}

void ColumnProfile::Others::add(std::string_view word, std::int64_t times) {
  if (words.size() <= kMostStrays) words[std::string(word)] += times;
}

bool ColumnProfile::Others::are_strays(std::int64_t present) const {
  constexpr std::int64_t kOneOf = 10;
  std::int64_t all = 0;
  for (const auto& [word, times] : words) all += times;
  return words.size() <= kMostStrays && all * kOneOf <= present;
}

void ColumnProfile::see(std::string_view text, bool is_missing,
                        std::uint64_t digest) {
  ++rows_;
  if (is_missing) {
    ++missing_;
    return;
  }
  ValueCounts::Entry* found = values_.find(text, digest);
  if (overflowed_) {
    understand(text, 1);
    see_order(text);
    if (found == nullptr) return;
    repeated_ = true;
    ++found->settled;
  } else if (found != nullptr) {
    repeated_ = true;
  } else if (values_.size() == kMostValues) {
    overflow();
    understand(text, 1);
    see_order(text);
    return;
  } else {
    see_order(text);
    found = &values_.insert(text, digest);
  }
  ++found->count;
  ++told_apart_;
}

// Whether numbers count up, as long as each value is a new one.
void ColumnProfile::see_order(std::string_view text) {
  double value = 0;
  if (repeated_ || !counts_up_ || !is_number(text, value)) return;
  if (!has_order_) first_ = value;
  if (has_order_ && value != last_ + 1) counts_up_ = false;
  has_order_ = true;
  last_ = value;
}

void ColumnProfile::settle() {
  for (ValueCounts::Entry& entry : values_.entries()) {
    if (entry.count > entry.settled)
      understand(entry.text, entry.count - entry.settled);
    entry.settled = entry.count;
  }
}

// Values of numbers are no longer counted: they are in the quantiles.
void ColumnProfile::overflow() {
  constexpr std::int64_t kOneOf = 10;
  settle();
  overflowed_ = true;
  if (numbers_ * kOneOf >= told_apart_ * (kOneOf - 1)) values_.clear();
}

void ColumnProfile::understand(std::string_view text, std::int64_t times) {
  longest_ = std::max(longest_, text.size());
  bytes_ += std::ssize(text) * times;
  has_spaces_ = has_spaces_ || text.find(' ') != std::string_view::npos;
  if (!are_words_) see_kind(text, times);
}

void ColumnProfile::see_kind(std::string_view text, std::int64_t times) {
  double value = 0;
  if (is_number(text, value)) {
    const bool is_long = is_long_integer(text, value);
    has_long_integers_ = has_long_integers_ || is_long;
    if (is_long ||
        (value == std::floor(value) && std::abs(value) < kMostExactInteger))
      integers_ += times;
    see_number(value, times);
  } else {
    no_numbers_.add(text, times);
    if (text.find(',') != std::string_view::npos &&
        (!without_thousands(text).empty() || has_other_commas(text)))
      comma_numbers_ += times;
    if (truth_of(text) >= 0) booleans_ += times;
  }
  see_date(text, times);
}

void ColumnProfile::see_number(double value, std::int64_t times) {
  if (numbers_ == 0) min_ = max_ = value;
  numbers_ += times;
  if (value == 0) zeros_ += times;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  const auto weight = static_cast<double>(times);
  const double before = value - mean_;
  mean_ += before * weight / static_cast<double>(numbers_);
  squares_ += before * weight * (value - mean_);
  sum_.add(value, times);
  quantiles_.add(value, times);
}

void ColumnProfile::see_date(std::string_view text, std::int64_t times) {
  constexpr std::size_t kShortest = 6, kLongest = 40;
  if (no_dates_.words.size() > kMostStrays) return;  // it is another column
  bool any = false;
  looked_at_ += times;
  // A format that did not fit a date before is none of the column.
  if (text.size() >= kShortest && text.size() <= kLongest)
    for (const bool fits : {true, false})
      for (std::size_t i = 0; i < dates_.size() && (fits || !any); ++i)
        if ((dates_[i] == any_dates_) == fits)
          if (const auto date = date_formats()[i].parse(text)) {
            see_date_of(i, *date, times);
            any = true;
          }
  if (any) any_dates_ += times;
  if (!any)
    no_dates_.add(text, times);
  else if (text.find(':') != std::string_view::npos)
    has_time_ = true;
}

void ColumnProfile::see_date_of(std::size_t format, Seconds date,
                                std::int64_t times) {
  dates_[format] += times;
  DateRange& range = ranges_[format];
  range.first = std::min(range.first, date);
  range.last = std::max(range.last, date);
}

std::optional<ColumnProfile::DateRange> ColumnProfile::date_range() const {
  const auto found = std::ranges::find(dates_, dated());
  if (dated() == 0 || found == dates_.end()) return std::nullopt;
  const DateRange& range =
      ranges_[static_cast<std::size_t>(found - dates_.begin())];
  return range.first > range.last ? std::nullopt : std::optional(range);
}

std::int64_t ColumnProfile::dated() const {
  std::int64_t others = 0;
  for (const auto& [word, times] : no_dates_.words) others += times;
  return no_dates_.are_strays(present()) ? present() - others : 0;
}

const char* ColumnProfile::date_format() const {
  const auto found = std::ranges::find(dates_, dated());
  return dated() == 0 || found == dates_.end()
             ? nullptr
             : known_date_formats()[static_cast<std::size_t>(found -
                                                             dates_.begin())];
}

bool ColumnProfile::has_mixed_dates() const {
  return date_format() == nullptr && !are_nearly_numbers() && any_dates_ > 0 &&
         2 * any_dates_ >= looked_at_;
}

bool ColumnProfile::looks_like_comma_numbers() const {
  return comma_numbers_ > 0 && !are_nearly_numbers() &&
         2 * (numbers_ + comma_numbers_) >= present();
}

bool ColumnProfile::has_other_date_format() const {
  return dated() > 0 && std::ranges::count(dates_, dated()) > 1;
}

double ColumnProfile::deviation() const {
  return numbers_ == 0 ? 0
                       : std::sqrt(squares_ / static_cast<double>(numbers_));
}

std::size_t ColumnProfile::distinct() const {
  return overflowed_ ? kMostValues + 1 : values_.size();
}

bool ColumnProfile::is_id() const {
  constexpr std::int64_t kLeastRows = 10;
  if (repeated_ || present() < kLeastRows || missing_ > 0) return false;
  if (are_nearly_numbers())
    return integers_ == numbers_ && (counts_up_ || is_called_id(name_));
  return true;
}

bool ColumnProfile::is_nearly_unique() const {
  return static_cast<std::int64_t>(distinct()) * 2 > told_apart_;
}

bool ColumnProfile::are_nearly_numbers() const {
  return numbers_ > 0 && no_numbers_.are_strays(present()) &&
         std::ranges::all_of(no_numbers_.words, [](const auto& word) {
           return without_thousands(word.first).empty();
         });
}

std::vector<std::string> ColumnProfile::strays() const {
  std::vector<std::string> all;
  const auto take = [&](const Others& others) {
    for (const auto& [word, times] : others.words) all.push_back(word);
  };
  if (are_nearly_numbers())
    take(no_numbers_);
  else if (date_format() != nullptr)
    take(no_dates_);
  return all;
}

void ColumnProfile::take_as_missing(const std::vector<std::string>& words) {
  const bool are_numbers =
      numbers_ > 0 && no_numbers_.words.size() <= kMostStrays;
  const Others& others = are_numbers ? no_numbers_ : no_dates_;
  if (others.words.size() > kMostStrays) return;  // not all are counted
  for (const std::string& word : words) {
    const auto found = others.words.find(word);
    if (found == others.words.end()) continue;
    const std::int64_t times = found->second;
    missing_ += times;
    if (truth_of(word) >= 0) booleans_ -= times;
    told_apart_ -= values_.erase(word);
    no_numbers_.words.erase(word);
    no_dates_.words.erase(word);
  }
}

ColumnType ColumnProfile::type() const {
  if (present() == 0) return ColumnType::kEmpty;
  if (distinct() == 1 && missing_ == 0) return ColumnType::kConstant;
  if (are_nearly_numbers()) {
    if (is_id()) return ColumnType::kId;
    return integers_ == numbers_ ? ColumnType::kInteger : ColumnType::kNumber;
  }
  if (booleans_ == present() && distinct() <= 4) return ColumnType::kBoolean;
  if (date_format() != nullptr) return ColumnType::kDate;
  if (is_id())
    return has_spaces_ && longest_ > 32 ? ColumnType::kText : ColumnType::kId;
  // Each value three times on the average is a category.
  constexpr std::int64_t kLeastTimes = 3;
  if (!overflowed_ && static_cast<std::int64_t>(distinct()) * kLeastTimes <=
                          std::max<std::int64_t>(present(), 2 * kLeastTimes))
    return ColumnType::kCategory;
  const bool is_long = bytes_ > present() * 20 && has_spaces_;
  return is_long || is_nearly_unique() ? ColumnType::kText
                                       : ColumnType::kCategory;
}

std::vector<std::pair<std::string, std::int64_t>> ColumnProfile::top(
    std::size_t most) const {
  std::vector<const ValueCounts::Entry*> all;
  for (const ValueCounts::Entry& entry : values_.entries())
    all.push_back(&entry);
  most = std::min(most, all.size());
  std::ranges::partial_sort(
      all, all.begin() + static_cast<std::ptrdiff_t>(most),
      [](const auto* a, const auto* b) {
        return a->count != b->count ? a->count > b->count : a->text < b->text;
      });
  std::vector<std::pair<std::string, std::int64_t>> top;
  top.reserve(most);
  for (std::size_t i = 0; i < most; ++i)
    top.emplace_back(all[i]->text, all[i]->count);
  return top;
}

std::vector<std::string> ColumnProfile::sorted_values() const {
  std::vector<std::string> all;
  all.reserve(values_.size());
  for (const ValueCounts::Entry& entry : values_.entries())
    all.push_back(entry.text);
  std::ranges::sort(all);
  if (are_numbers())
    std::ranges::stable_sort(all, {}, [](const std::string& text) {
      double value = 0;
      (void)parse_number(text, value);
      return value;
    });
  return all;
}

std::vector<std::string> ColumnProfile::words(bool truth) const {
  std::vector<std::string> all;
  for (const std::string& text : sorted_values())
    if (truth_of(text) == (truth ? 1 : 0)) all.push_back(text);
  return all;
}

}  // namespace dl::vectorize
