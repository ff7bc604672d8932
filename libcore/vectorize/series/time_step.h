// Steps of a fixed length on the line of time, by the clock or the calendar.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_TIME_STEP_H_
#define DL_LIBCORE_VECTORIZE_SERIES_TIME_STEP_H_

#include <cstdint>
#include <span>
#include <string>

namespace dl::vectorize {

// Seconds since 1970, or the number of a column.
using Time = double;

struct TimeStep {
  double seconds = 0;       // or of the column's unit
  std::int64_t months = 0;  // in their place, if not 0
  bool is_plain = false;    // it was given without a unit

  bool is_within_a_day() const { return months == 0 && seconds < 86400; }

  // The step that `time` lies in, counted from the one that begins at origin.
  std::int64_t of(Time time, Time origin) const;
  // The time at which step i begins.
  Time begin(std::int64_t i, Time origin) const;
};

// "15min".  Throws Error: kConfig.
TimeStep parse_step(const std::string& text);

// Where the steps that hold `first` usually begin: at midnight, at the first of
// the month; a plain number as it is.
Time usual_origin(Time first, const TimeStep& step, bool is_number);

// The distance that most neighbors have; in months where they keep their day,
// or are ends of months.  times: in order.
TimeStep usual_step(std::span<const Time> times, bool are_numbers);

// Whole steps from one time to a later one, to the nearest.
std::int64_t steps_between(Time from, Time to, const TimeStep& step);

// The time so many steps behind the last of these; of months it keeps their
// day, and ends of months stay ends.  times: in order, not empty.
Time time_ahead(std::span<const Time> times, const TimeStep& step,
                std::int64_t steps);

// "2024-02-29", "2024-02-29 17:05:09", or the number.  with_hours: at midnight,
// too.
std::string time_text(Time time, bool is_number, bool with_hours = false);

// "1d", "15min", "1mo".
std::string step_text(const TimeStep& step, bool is_number);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_TIME_STEP_H_
