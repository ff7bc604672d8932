// Where windows of a series may lie.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_WINDOW_PLACES_H_
#define DL_LIBCORE_VECTORIZE_SERIES_WINDOW_PLACES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/vectorize/series/series_rows.h"

namespace dl::vectorize {

struct WindowRow {
  std::size_t series = 0, first = 0;  // the row that it begins with
  std::int64_t count = 0;             // windows, a stride from each to the next
};

struct WindowPlaces {
  std::vector<WindowRow> rows;
  std::int64_t lacking = 0;  // windows that numbers are missing in
};

// The windows, of the schema's tensors, in which no number is missing and whose
// labels (of all tensors, where there are none) are not before `begin`.
// history: rows that lags and differences look back by; windows among the first
// so many rows of a series are not counted as lacking.
// at_end: they are counted from the end, so that the last row is in one.
WindowPlaces window_places(const SeriesTable& table, std::size_t width,
                           const std::map<std::string, data::Field>& schema,
                           std::int64_t stride, std::size_t history, Time begin,
                           bool at_end);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_WINDOW_PLACES_H_
