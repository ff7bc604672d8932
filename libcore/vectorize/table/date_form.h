// The form in which data have their dates, so that others are written alike.

#ifndef DL_LIBCORE_VECTORIZE_TABLE_DATE_FORM_H_
#define DL_LIBCORE_VECTORIZE_TABLE_DATE_FORM_H_

#include <string>
#include <string_view>

#include "libcore/vectorize/table/dates.h"

namespace dl::vectorize {

class DateForm {
 public:
  explicit DateForm(DateFormat format) : format_(std::move(format)) {}

  // Learns from a text that DateFormat::parse() read: whether numbers are
  // padded with zeros and months have their whole names, and how a time of day
  // looks, where there is one.
  void see(std::string_view text, const DatePieces& pieces);

  // The time as `like` has it, which is a date of the data: in its format, with
  // its offset from UTC.
  std::string text(Seconds time, std::string_view like) const;

 private:
  void put(std::string& to, const DatePiece& like, const CivilTime& time,
           bool is_pm) const;

  DateFormat format_;
  bool has_short_ = false;       // a day or month of one digit was seen
  bool has_short_hour_ = false;  // an hour was
  bool has_whole_name_ = false;  // a month longer than "may" was
  std::string timed_;            // the last text with a time of day, or ""
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_DATE_FORM_H_
