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

constexpr std::array<std::string_view, 12> kMonthNames = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

// The rest of a text that is being read.
class DateText {
 public:
  DateText(std::string_view text, DatePieces* pieces)
      : rest_(text), pieces_(pieces) {}

  std::string_view rest() const { return rest_; }
  // Notes that the text from `begin` on was this field; '\0': it stands for
  // itself.
  void note(char field, std::string_view begin) {
    if (pieces_ != nullptr)
      pieces_->add({field, begin.substr(0, begin.size() - rest_.size())});
  }

  bool is_empty() const { return rest_.empty(); }
  bool next_is(char c) const { return rest_.starts_with(c); }
  bool next_is_letter(std::string_view letters) const {
    return !rest_.empty() && letters.find(rest_[0]) != std::string_view::npos;
  }
  // Goes on without a note.
  bool skip(std::size_t n) {
    rest_.remove_prefix(n);
    return true;
  }
  bool take(char c) {
    if (!next_is(c)) return false;
    const std::string_view begin = rest_;
    rest_.remove_prefix(1);
    note('\0', begin);
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
  // "AM", "pm", "a.m."
  bool half(bool& is_pm) {
    for (const std::string_view name : {"am", "a.m.", "pm", "p.m."})
      if (begins_with(name)) {
        rest_.remove_prefix(name.size());
        is_pm = name.front() == 'p';
        return true;
      }
    return false;
  }
  // "feb", or "February".
  bool month(std::int64_t& value) {
    constexpr std::size_t kShort = 3;
    for (std::size_t i = 0; i < kMonthNames.size(); ++i)
      for (const std::size_t size : {kMonthNames[i].size(), kShort})
        if (begins_with(kMonthNames[i].substr(0, size))) {
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
  DatePieces* pieces_;
};

// The fields of a date, as they are read.
struct DateFields {
  std::int64_t year = 1970, month = 1, day = 1, yearday = 0;
  std::int64_t hour = 0, minute = 0, second = 0, offset = 0;
  std::optional<bool> is_pm = {};  // of a clock of 12 hours

  // None: there is no such day, or time.
  std::optional<Seconds> seconds() const {
    namespace ch = std::chrono;
    constexpr std::int64_t kLastSecond = 60;  // a leap second
    const std::int64_t of_day = is_pm ? hour % 12 + (*is_pm ? 12 : 0) : hour;
    if (hour > 23 || minute > 59 || second > kLastSecond) return std::nullopt;
    if (is_pm && (hour < 1 || hour > 12)) return std::nullopt;
    const ch::year_month_day date{ch::year(static_cast<int>(year)),
                                  ch::month(static_cast<unsigned>(month)),
                                  ch::day(static_cast<unsigned>(day))};
    if (!date.ok()) return std::nullopt;
    std::int64_t days = ch::sys_days(date).time_since_epoch().count();
    if (yearday > 0) {
      if (yearday > (date.year().is_leap() ? 366 : 365)) return std::nullopt;
      days += yearday - 1;
    }
    return days * kDaySeconds + of_day * kHourSeconds +
           minute * kMinuteSeconds + second - offset;
  }
};

// "+02:00", "-0530", "Z".
bool take_zone(DateText& text, DateFields& fields) {
  const std::string_view begin = text.rest();
  if (begin.starts_with('Z')) return text.skip(1);
  const bool is_west = begin.starts_with('-');
  std::int64_t hours = 0, minutes = 0;
  if (!(is_west || begin.starts_with('+')) || !text.skip(1) ||
      !text.number(2, 2, hours))
    return false;
  const bool has_colon = text.next_is(':');
  if (has_colon) text.skip(1);
  if (!text.number(has_colon ? 2 : 0, 2, minutes)) return false;
  fields.offset =
      (hours * kHourSeconds + minutes * kMinuteSeconds) * (is_west ? -1 : 1);
  return hours < 24 && minutes < 60;
}

bool take_quarter(DateText& text, DateFields& fields) {
  std::int64_t quarter = 0;
  if (!text.number(1, 1, quarter) || quarter < 1 || quarter > 4) return false;
  fields.month = 3 * quarter - 2;
  return true;
}

bool take_half(DateText& text, DateFields& fields) {
  bool is_pm = false;
  if (!text.half(is_pm)) return false;
  fields.is_pm = is_pm;
  return true;
}

bool read_field(char field, DateText& text, DateFields& fields) {
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
    case 'q':
      return take_quarter(text, fields);
    case 'H':
    case 'I':
      return text.number(1, 2, fields.hour);
    case 'M':
      return text.number(2, 2, fields.minute);
    case 'S':
      return text.number(2, 2, fields.second);
    case 'p':
      return take_half(text, fields);
    case 'z':
      return take_zone(text, fields);
    default:
      return false;
  }
}

bool take_field(char field, DateText& text, DateFields& fields) {
  if (field == '%') return text.take(field);
  const std::string_view begin = text.rest();
  const bool is_there = read_field(field, text, fields);
  text.note(field, begin);
  return is_there;
}

// " 17:05", "T17:05:09.25+02:00", " 5:05 PM".
bool take_time(DateText& text, DateFields& fields) {
  constexpr std::size_t kMostDigits = 12;
  if (!text.take(' ') && !text.take('T')) return false;
  if (!take_field('H', text, fields) || !text.take(':') ||
      !take_field('M', text, fields))
    return false;
  if (text.take(':')) {
    if (!take_field('S', text, fields)) return false;
    if (text.take('.')) {
      std::int64_t fraction = 0;
      const std::string_view begin = text.rest();
      if (!text.number(1, kMostDigits, fraction)) return false;
      text.note('f', begin);
    }
  }
  text.take(' ');
  if (text.is_empty()) return true;
  return text.next_is_letter("apAP") ? take_field('p', text, fields)
                                     : take_field('z', text, fields);
}

}  // namespace

DateFormat::DateFormat(std::string format) : format_(std::move(format)) {
  std::string fields;
  for (std::size_t i = 0; i < format_.size(); ++i) {
    if (format_[i] != '%') continue;
    const char field = ++i < format_.size() ? format_[i] : '\0';
    if (std::string_view("YymdbjqHIMSpz%").find(field) ==
        std::string_view::npos)
      bad_config(in_quotes("%" + std::string(field != '\0', field)) +
                 " is no part of a date format; want %Y, %y, %m, %d, %b, %j, "
                 "%q, %H, %I, %M, %S, %p, %z");
    fields += field;
  }
  const auto has = [&](char field) {
    return fields.find(field) != std::string::npos;
  };
  const bool has_month = has('m') || has('b');
  if (!(has('Y') || has('y')) || !(has('j') || has('q') || has_month) ||
      (has('d') && !has_month))
    bad_config(in_quotes(format_) +
               " has no date: want a year and a month, with or without a day, "
               "a quarter or a day of the year, as " +
               kIso);
  if (has('I') != has('p'))
    bad_config(in_quotes(format_) +
               ": %I, of 12 hours, and %p, AM or PM, go together");
  has_time_ = has('H') || has('I');
  has_day_ = has('d') || has('j');
}

std::optional<Seconds> DateFormat::parse(std::string_view text,
                                         DatePieces* pieces) const {
  DateText rest(text, pieces);
  DateFields fields;
  for (std::size_t i = 0; i < format_.size(); ++i) {
    const bool is_field = format_[i] == '%';
    if (is_field) ++i;
    if (is_field ? !take_field(format_[i], rest, fields)
                 : !rest.take(format_[i]))
      return std::nullopt;
  }
  if (!rest.is_empty() &&
      (has_time_ || !has_day_ || !take_time(rest, fields) || !rest.is_empty()))
    return std::nullopt;
  return fields.seconds();
}

std::span<const char* const> known_date_formats() {
  static constexpr std::array kFormats = {
      DateFormat::kIso, "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y",
      "%d-%m-%Y",       "%m-%d-%Y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y",
      "%d-%b-%y",       "%Y-%m",    "%YQ%q",    "%Y-Q%q"};
  return kFormats;
}

std::string_view month_name(std::int64_t month) {
  return kMonthNames.at(static_cast<std::size_t>(month - 1));
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
