// The time of a record, and the form in which records have it.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_TIME_COLUMN_H_
#define DL_LIBCORE_VECTORIZE_SERIES_TIME_COLUMN_H_

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/record.h"
#include "libcore/vectorize/series/series_settings.h"
#include "libcore/vectorize/table/date_form.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

class TimeColumn {
 public:
  // settings: with a time.  Throws Error: kConfig, its format is none.
  explicit TimeColumn(const SeriesSettings& settings)
      : name_(settings.time), format_(settings.time_format) {
    if (settings.has_number_times()) return;
    date_.emplace(settings.time_format);
    form_.emplace(*date_);
  }

  std::string_view text_of(const Record& record) const {
    return trim(record.at(name_));
  }
  // Throws Error: kData, the text is no time.
  Time of(std::string_view text) {
    double number = 0;
    DatePieces pieces;
    if (date_) {
      if (const auto seconds = date_->parse(text, &pieces)) {
        form_->see(text, pieces);
        return static_cast<Time>(*seconds);
      }
    } else if (parse_number(text, number) && std::isfinite(number)) {
      return number;
    }
    bad_data("column " + in_quotes(name_) + ": want a time as " + format_ +
             ", got '" + clipped(text) + "'");
  }
  // The form of all texts so far; none: they are numbers.
  const std::optional<DateForm>& form() const { return form_; }

 private:
  std::string name_, format_;
  std::optional<DateFormat> date_;
  std::optional<DateForm> form_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_TIME_COLUMN_H_
