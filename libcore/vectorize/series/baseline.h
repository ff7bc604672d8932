// Errors of the naive forecasts over the windows of a stream, where a window
// does not show the rows that they are of: those of a season longer than it,
// and the numbers that differences are from.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_BASELINE_H_
#define DL_LIBCORE_VECTORIZE_SERIES_BASELINE_H_

#include <vector>

#include "libcore/base/json.h"
#include "libcore/vectorize/series/long_array.h"
#include "libcore/vectorize/series/row_maker.h"
#include "libcore/vectorize/series/series_rows.h"
#include "libcore/vectorize/series/window_places.h"

namespace dl::vectorize {

class Baseline {
 public:
  // Keeps the targets of all rows, if windows will not show them.  table: of
  // numbers that are no differences yet.
  Baseline(const SeriesTable& table, const RowMaker& maker,
           const SeriesSettings& settings);

  bool is_wanted() const { return !targets_.empty(); }
  // For each output, a row ahead of a target, means over the windows: absolute
  // error, squared error and sMAPE of the naive forecast, the same of the
  // seasonal one (-1 where no window has it), target and its square.
  Json numbers(const std::vector<WindowRow>& places) const;

 private:
  struct Sums;
  void add(const WindowRow& place, std::vector<Sums>& all) const;

  SeriesSettings settings_;
  std::size_t width_;                      // targets of a row
  std::vector<LongArray<float>> targets_;  // of each series
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_BASELINE_H_
