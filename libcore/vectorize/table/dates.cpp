#include "libcore/vectorize/table/dates.h"

#include <array>
#include <cctype>
#include <chrono>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::vectorize {
namespace {

constexpr std::int64_t kMinuteSeconds = 60, kHourSeconds = 3600,
                       kDaySeconds = 86400;

// The rest of a text that is being read.
class DateText {
 public:
  explicit DateText(std::string_view text) : rest_(text) {}

  bool is_empty() const { return rest_.empty(); }
  bool next_is(char c) const { return rest_.starts_with(c); }
  bool take(char c) {
    if (!next_is(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // least..most digits.
  bool number(std::size_t least, std::size_t most, std::int64_t& value) {
    std::size_t n = 0;
    for (value = 0; n < most && n < rest_.size() && is_digit(rest_[n]); ++n)
      value = value * 10 + (rest_[n] - '0');
    rest_.remove_prefix(n);
    return n >= least;
  }
  // "feb", or "February".
  bool month(std::int64_t& value) {
    static constexpr std::array<std::string_view, 12> kNames = {
        "january", "february", "march",     "april",   "may",      "june",
        "july",    "august",   "september", "october", "november", "december"};
    constexpr std::size_t kShort = 3;
    for (std::size_t i = 0; i < kNames.size(); ++i)
      for (const std::size_t size : {kNames[i].size(), kShort})
        if (begins_with(kNames[i].substr(0, size))) {
          rest_.remove_prefix(size);
          value = static_cast<std::int64_t>(i) + 1;
          return true;
        }
    return false;
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  bool begins_with(std::string_view lower) const {
    if (rest_.size() < lower.size()) return false;
    for (std::size_t i = 0; i < lower.size(); ++i)
      if (std::tolower(static_cast<unsigned char>(rest_[i])) != lower[i])
        return false;
    return true;
  }

  std::string_view rest_;
};

// The fields of a date, as they are read.
struct DateFields {
  std::int64_t year = 1970, month = 1, day = 1, yearday = 0;
  std::int64_t hour = 0, minute = 0, second = 0, offset = 0;

  // None: there is no such day, or time.
  std::optional<Seconds> seconds() const {
    namespace ch = std::chrono;
    constexpr std::int64_t kLastSecond = 60;  // a leap second
    if (hour > 23 || minute > 59 || second > kLastSecond) return std::nullopt;
    const ch::year_month_day date{ch::year(static_cast<int>(year)),
                                  ch::month(static_cast<unsigned>(month)),
                                  ch::day(static_cast<unsigned>(day))};
    if (!date.ok()) return std::nullopt;
    std::int64_t days = ch::sys_days(date).time_since_epoch().count();
    if (yearday > 0) {
      if (yearday > (date.year().is_leap() ? 366 : 365)) return std::nullopt;
      days += yearday - 1;
    }
    return days * kDaySeconds + hour * kHourSeconds + minute * kMinuteSeconds +
           second - offset;
  }
};

bool take_field(char field, DateText& text, DateFields& fields) {
  constexpr std::int64_t kPivot = 69;  // as POSIX has it: 69 is 1969
  switch (field) {
    case 'Y':
      return text.number(4, 4, fields.year);
    case 'y':
      if (!text.number(2, 2, fields.year)) return false;
      fields.year += fields.year < kPivot ? 2000 : 1900;
      return true;
    case 'm':
      return text.number(1, 2, fields.month);
    case 'd':
      return text.number(1, 2, fields.day);
    case 'b':
      return text.month(fields.month);
    case 'j':
      return text.number(1, 3, fields.yearday) && fields.yearday > 0;
    case 'H':
      return text.number(1, 2, fields.hour);
    case 'M':
      return text.number(2, 2, fields.minute);
    case 'S':
      return text.number(2, 2, fields.second);
    default:
      return text.take(field);  // %%
  }
}

// "+02:00", "-0530", "Z", or nothing.
bool take_offset(DateText& text, DateFields& fields) {
  if (text.is_empty() || text.take('Z')) return text.is_empty();
  const bool is_west = text.next_is('-');
  std::int64_t hours = 0, minutes = 0;
  if (!text.take(is_west ? '-' : '+') || !text.number(2, 2, hours))
    return false;
  text.take(':');
  if (!text.is_empty() && !text.number(2, 2, minutes)) return false;
  fields.offset =
      (hours * kHourSeconds + minutes * kMinuteSeconds) * (is_west ? -1 : 1);
  return text.is_empty() && hours < 24 && minutes < 60;
}

bool take_time(DateText& text, DateFields& fields) {
  constexpr std::size_t kMostDigits = 12;
  std::int64_t fraction = 0;
  if (!text.take(' ') && !text.take('T')) return false;
  if (!take_field('H', text, fields) || !text.take(':') ||
      !take_field('M', text, fields))
    return false;
  if (text.take(':')) {
    if (!take_field('S', text, fields)) return false;
    if (text.take('.') && !text.number(1, kMostDigits, fraction)) return false;
  }
  text.take(' ');
  return take_offset(text, fields);
}

}  // namespace

DateFormat::DateFormat(std::string format) : format_(std::move(format)) {
  std::string fields;
  for (std::size_t i = 0; i < format_.size(); ++i) {
    if (format_[i] != '%') continue;
    const char field = ++i < format_.size() ? format_[i] : '\0';
    if (std::string_view("YymdbjHMS%").find(field) == std::string_view::npos)
      bad_config(in_quotes("%" + std::string(field != '\0', field)) +
                 " is no part of a date format; want %Y, %y, %m, %d, %b, %j, "
                 "%H, %M, %S");
    fields += field;
  }
  const auto has = [&](char field) {
    return fields.find(field) != std::string::npos;
  };
  if (!(has('Y') || has('y')) ||
      !(has('j') || ((has('m') || has('b')) && has('d'))))
    bad_config(in_quotes(format_) +
               " has no whole date: want year, month and day, as " + kIso);
  has_time_ = has('H');
}

std::optional<Seconds> DateFormat::parse(std::string_view text) const {
  DateText rest(text);
  DateFields fields;
  for (std::size_t i = 0; i < format_.size(); ++i) {
    const bool is_field = format_[i] == '%';
    if (is_field) ++i;
    if (is_field ? !take_field(format_[i], rest, fields)
                 : !rest.take(format_[i]))
      return std::nullopt;
  }
  if (!rest.is_empty() && (has_time_ || !take_time(rest, fields)))
    return std::nullopt;
  return fields.seconds();
}

std::span<const char* const> known_date_formats() {
  static constexpr std::array kFormats = {
      DateFormat::kIso, "%Y/%m/%d",  "%d.%m.%Y", "%d/%m/%Y",
      "%m/%d/%Y",       "%d-%m-%Y",  "%m-%d-%Y", "%d %b %Y",
      "%d-%b-%Y",       "%b %d, %Y", "%d-%b-%y"};
  return kFormats;
}

CivilTime civil_time(Seconds time) {
  namespace ch = std::chrono;
  const ch::sys_days day =
      ch::floor<ch::days>(ch::sys_time<ch::seconds>(ch::seconds(time)));
  const ch::year_month_day date(day);
  const std::int64_t within =
      time - day.time_since_epoch().count() * kDaySeconds;
  const ch::sys_days new_year =
      ch::sys_days(date.year() / ch::January / ch::day(1));
  return {.year = static_cast<int>(date.year()),
          .month = static_cast<unsigned>(date.month()),
          .day = static_cast<unsigned>(date.day()),
          .yearday = (day - new_year).count() + 1,
          .weekday = ch::weekday(day).iso_encoding() - 1,
          .hour = within / kHourSeconds,
          .minute = within % kHourSeconds / kMinuteSeconds,
          .second = within % kMinuteSeconds};
}

std::string date_text(Seconds time) {
  const CivilTime t = civil_time(time);
  char text[64];
  const int n = std::snprintf(
      text, sizeof text, "%04lld-%02lld-%02lld", static_cast<long long>(t.year),
      static_cast<long long>(t.month), static_cast<long long>(t.day));
  if (time % kDaySeconds != 0)
    std::snprintf(text + n, sizeof text - static_cast<std::size_t>(n),
                  " %02lld:%02lld:%02lld", static_cast<long long>(t.hour),
                  static_cast<long long>(t.minute),
                  static_cast<long long>(t.second));
  return text;
}

}  // namespace dl::vectorize
