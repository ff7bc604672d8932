// The rows of a table as series: by their key, in the order of time, in steps
// of one length, gaps filled.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_SERIES_ROWS_H_
#define DL_LIBCORE_VECTORIZE_SERIES_SERIES_ROWS_H_

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/vectorize/bad_records.h"
#include "libcore/vectorize/series/long_array.h"
#include "libcore/vectorize/series/row_maker.h"
#include "libcore/vectorize/series/series_settings.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/table/date_form.h"

namespace dl::vectorize {

// One series: rows of `width` numbers each.
struct SeriesRows {
  std::string key;
  LongArray<Time> times;  // of the rows
  std::string last_time;  // that of the last row, as the data have it
  LongArray<float> values;

  std::size_t rows() const { return times.size(); }
  std::span<float> row(std::size_t i, std::size_t width) {
    return std::span(values).subspan(i * width, width);
  }
  std::span<const float> row(std::size_t i, std::size_t width) const {
    return std::span(values).subspan(i * width, width);
  }
};

struct SeriesTable {
  std::vector<SeriesRows> series;  // in the order of their first rows
  std::int64_t records = 0;        // of the input
  std::int64_t empty_steps = 0;    // of `every`, that have no row
  TimeStep step;                   // from row to row
  Time origin = 0;                 // of the steps of `every`
  std::optional<DateForm> form;    // of the times; none: they are no dates

  // A time of a series in the form of its data.
  std::string text_of(const SeriesRows& of, Time time) const {
    return form ? form->text(std::llround(time), of.last_time)
                : time_text(time, true);
  }
  SeriesTable copy() const;
};

// Reads all of a source, as rows in the order of time.  A record whose column
// of features/static is another one than in the rows of its series before is a
// bad one.
// Throws Error: kData, two rows have one key and time and nothing says what
// becomes of them.
SeriesTable read_rows(RecordSource& source, RowMaker& maker,
                      const SeriesSettings& settings, BadRecords& bad);

// Makes steps of these rows where settings.every wants them, and puts the
// calendar into them.  Throws Error: kData, a series of too many steps.
void make_steps(SeriesTable& table, const RowMaker& maker,
                const SeriesSettings& settings);

// Reads a source, and makes steps of its rows.  Throws as both do.
SeriesTable read_series(RecordSource& source, RowMaker& maker,
                        const SeriesSettings& settings, BadRecords& bad);

// Fills missing numbers of a series as settings.gaps says, of those between
// others alone.  Returns how many.
std::int64_t fill_gaps(SeriesRows& series, const RowMaker& maker,
                       const SeriesSettings& settings);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_SERIES_ROWS_H_
