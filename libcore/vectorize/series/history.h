// Numbers of rows that are made of rows before: differences and lags.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_HISTORY_H_
#define DL_LIBCORE_VECTORIZE_SERIES_HISTORY_H_

#include <cstddef>
#include <cstdint>

#include "libcore/vectorize/series/row_maker.h"
#include "libcore/vectorize/series/series_rows.h"

namespace dl::vectorize {

// Targets become their differences from `rows` before; the first have none,
// which is NaN.  rows: 0: they stay.
void put_differences(SeriesRows& series, const RowMaker& maker,
                     std::int64_t rows);

// Puts the targets of rows `first` to before `last` into the columns of lags of
// later rows, as far as there are any.
void put_lags(SeriesRows& series, const RowMaker& maker, std::size_t first,
              std::size_t last);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_HISTORY_H_
