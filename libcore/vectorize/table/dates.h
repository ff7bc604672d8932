// Dates and times of day, as tables have them.

#ifndef DL_LIBCORE_VECTORIZE_TABLE_DATES_H_
#define DL_LIBCORE_VECTORIZE_TABLE_DATES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dl::vectorize {

// Seconds since 1970-01-01 00:00:00.
using Seconds = std::int64_t;

// Part of a text that was read by a format: the field that it is of, as in
// formats, 'f' for the fraction of a second, or '\0' where it stands for
// itself.
struct DatePiece {
  char field = '\0';
  std::string_view text;
};

// All of a text, in order.
class DatePieces {
 public:
  void add(DatePiece piece) {
    if (size_ < all_.size()) all_[size_++] = piece;
  }
  std::span<const DatePiece> all() const { return {all_.data(), size_}; }

 private:
  static constexpr std::size_t kMost = 40;
  std::array<DatePiece, kMost> all_ = {};
  std::size_t size_ = 0;
};

// A format as strptime has it, of %Y %y %m %d %b (English, also whole names) %j
// %H %I %M %S %p %z and %%, and %q for the quarter.  A month or quarter without
// a day is its first one.
class DateFormat {
 public:
  static constexpr const char* kIso = "%Y-%m-%d";

  // Throws Error: kConfig, "%Q is no part of a date format; ...", or it has no
  // date.
  explicit DateFormat(std::string format);

  // Behind a day without a time one may follow, as " 17:05", "T17:05:09.25",
  // " 5:05 PM" and "T17:05:09+02:00"; one with an offset from UTC becomes UTC.
  // None: the text is no such date.  pieces: of the text, or null.
  std::optional<Seconds> parse(std::string_view text,
                               DatePieces* pieces = nullptr) const;

  const std::string& text() const { return format_; }

 private:
  std::string format_;
  bool has_time_ = false, has_day_ = false;
};

// The formats that columns are searched for, the likeliest first: where day and
// month may be either, the day before the month.
std::span<const char* const> known_date_formats();

// "march", of 1 to 12.
std::string_view month_name(std::int64_t month);

// "2024-02-29", or "2024-02-29 17:05:09".
std::string date_text(Seconds time);

// Parts of a date.
struct CivilTime {
  std::int64_t year = 0, month = 0, day = 0, yearday = 0;  // 1 is the first
  std::int64_t weekday = 0;                                // 0: Monday
  std::int64_t hour = 0, minute = 0, second = 0;
};
CivilTime civil_time(Seconds time);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_DATES_H_
