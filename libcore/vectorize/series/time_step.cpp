#include "libcore/vectorize/series/time_step.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <string_view>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/table/dates.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

constexpr double kSecondsOfDay = 86400;

struct StepUnit {
  std::string_view name;
  double seconds;
  std::int64_t months;
};
constexpr std::array<StepUnit, 7> kStepUnits = {{{"y", 0, 12},
                                                 {"mo", 0, 1},
                                                 {"w", 7 * kSecondsOfDay, 0},
                                                 {"d", kSecondsOfDay, 0},
                                                 {"h", 3600, 0},
                                                 {"min", 60, 0},
                                                 {"s", 1, 0}}};

CivilTime civil_of(Time time) {
  return civil_time(static_cast<Seconds>(std::floor(time)));
}

std::int64_t month_of(Time time) {
  const CivilTime civil = civil_of(time);
  return civil.year * 12 + civil.month - 1;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

// Days from 1970-01-01 to the first of a month, counted from the year 0.
std::int64_t days_to_month(std::int64_t month) {
  std::int64_t year = floor_div(month, 12);
  const std::int64_t of_year = month - year * 12 + 1;
  year -= of_year <= 2 ? 1 : 0;
  const std::int64_t era = floor_div(year, 400), of_era = year - era * 400;
  const std::int64_t day = (153 * (of_year + (of_year > 2 ? -3 : 9)) + 2) / 5;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + day - 719468;
}

std::int64_t days_of_month(std::int64_t month) {
  return days_to_month(month + 1) - days_to_month(month);
}

// A day of a month, its last one at most, and a time of day.
Time in_month(std::int64_t month, std::int64_t day, double of_day) {
  const std::int64_t days =
      days_to_month(month) + std::min(day, days_of_month(month)) - 1;
  return static_cast<double>(days) * kSecondsOfDay + of_day;
}

double time_of_day(Time time) {
  return time - std::floor(time / kSecondsOfDay) * kSecondsOfDay;
}

// The same day and time of a later month, its last day at most.
Time add_months(Time time, std::int64_t months) {
  return in_month(month_of(time) + months, civil_of(time).day,
                  time_of_day(time));
}

constexpr std::int64_t kMonthEnd = 31;

// The day that times of months have: the greatest of them, as shorter months
// end before it; kMonthEnd if all are ends.
std::int64_t day_of_months(std::span<const Time> times) {
  std::int64_t day = 1;
  bool are_ends = times.size() > 1;
  for (const Time time : times) {
    const std::int64_t own = civil_of(time).day;
    day = std::max(day, own);
    are_ends = are_ends && own == days_of_month(month_of(time));
  }
  return are_ends ? kMonthEnd : day;
}

}  // namespace

std::int64_t TimeStep::of(Time time, Time origin) const {
  if (months > 0) {
    std::int64_t i = floor_div(month_of(time) - month_of(origin), months);
    while (begin(i, origin) > time) --i;
    return i;
  }
  // A time that should be the begin of a step may be a rounding before it.
  constexpr double kRounding = 1e-6;
  return static_cast<std::int64_t>(
      std::floor((time - origin) / seconds + kRounding));
}

Time TimeStep::begin(std::int64_t i, Time origin) const {
  return months > 0 ? add_months(origin, i * months)
                    : origin + static_cast<double>(i) * seconds;
}

TimeStep parse_step(const std::string& text) {
  const auto refuse = [&] {
    bad_config(
        "every wants a number and a unit, as 15min, 1h, 1d, 1w, 1mo; "
        "got " +
        in_quotes(text));
  };
  std::size_t end = 0;
  while (end < text.size() &&
         (std::isdigit(static_cast<unsigned char>(text[end])) != 0 ||
          text[end] == '.'))
    ++end;
  double number = 0;
  if (!parse_number(text.substr(0, end), number) || !(number > 0) ||
      number > 1e9)
    refuse();
  const std::string unit = text.substr(end);
  if (unit.empty()) return {number, 0, true};
  const auto found = std::ranges::find(kStepUnits, unit, &StepUnit::name);
  if (found == kStepUnits.end()) refuse();
  if (found->months == 0) return {number * found->seconds, 0, false};
  if (number != std::floor(number) || number > 12000) refuse();
  return {0, static_cast<std::int64_t>(number) * found->months, false};
}

Time usual_origin(Time first, const TimeStep& step, bool is_number) {
  if (is_number) return first;
  if (step.months > 0)
    return static_cast<double>(days_to_month(month_of(first))) * kSecondsOfDay;
  return std::floor(first / kSecondsOfDay) * kSecondsOfDay;
}

TimeStep usual_step(std::span<const Time> times, bool are_numbers) {
  std::map<double, std::int64_t> seconds;
  std::map<std::int64_t, std::int64_t> months;
  bool keeps_day = !are_numbers;
  const std::int64_t day = are_numbers ? 0 : day_of_months(times);
  for (std::size_t i = 1; i < times.size(); ++i) {
    ++seconds[times[i] - times[i - 1]];
    if (!keeps_day) continue;
    const std::int64_t by = month_of(times[i]) - month_of(times[i - 1]);
    keeps_day = by > 0 && in_month(month_of(times[i]), day,
                                   time_of_day(times[0])) == times[i];
    ++months[by];
  }
  const auto usual = [](const auto& counts) {
    return std::ranges::max_element(
               counts, {}, [](const auto& item) { return item.second; })
        ->first;
  };
  if (seconds.empty()) return {are_numbers ? 1 : kSecondsOfDay, 0, are_numbers};
  if (keeps_day && !months.empty()) return {0, usual(months), false};
  return {usual(seconds), 0, are_numbers};
}

std::int64_t steps_between(Time from, Time to, const TimeStep& step) {
  if (step.months > 0) return (month_of(to) - month_of(from)) / step.months;
  return step.seconds > 0 ? std::llround((to - from) / step.seconds) : 0;
}

Time time_ahead(std::span<const Time> times, const TimeStep& step,
                std::int64_t steps) {
  const Time last = times.back();
  if (step.months == 0) return step.begin(steps, last);
  return in_month(month_of(last) + steps * step.months, day_of_months(times),
                  time_of_day(last));
}

std::string time_text(Time time, bool is_number, bool with_hours) {
  if (!is_number) {
    std::string text = date_text(static_cast<Seconds>(std::llround(time)));
    if (with_hours && text.find(':') == std::string::npos) text += " 00:00:00";
    return text;
  }
  if (time == std::floor(time) && std::abs(time) < 1e15)
    return std::to_string(static_cast<std::int64_t>(time));
  return dump_json(Json(time));
}

std::string step_text(const TimeStep& step, bool is_number) {
  if (is_number) return time_text(step.seconds, true);
  for (const StepUnit& unit : kStepUnits) {
    const double of =
        step.months > 0 ? static_cast<double>(step.months) : step.seconds;
    const double each =
        step.months > 0 ? static_cast<double>(unit.months) : unit.seconds;
    if (each > 0 && std::fmod(of, each) == 0)
      return time_text(of / each, true) + std::string(unit.name);
  }
  return time_text(step.seconds, true) + "s";
}

}  // namespace dl::vectorize
