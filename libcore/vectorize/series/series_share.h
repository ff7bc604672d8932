// Shares of a table of series: parts of a split, and folds.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_SERIES_SHARE_H_
#define DL_LIBCORE_VECTORIZE_SERIES_SERIES_SHARE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "libcore/vectorize/recipe/recipe.h"
#include "libcore/vectorize/recipe/share.h"
#include "libcore/vectorize/series/series_rows.h"

namespace dl::vectorize {

// Leaves out the rows that no window of the share has, and gives the time that
// its windows begin to predict at.  Of a share by time, rows before that stay,
// which windows look back to; of a block nothing does, so that blocks have no
// row in common.  Borders are at the same time in all series.  By key, series
// stay in a share by chance, as many as it wants to within one.
// rows: others, or none, that are cut at the same times.
// Throws Error: kData, no series is left.
Time take_share(SeriesTable& table, std::size_t width, const Share& share,
                SeriesTable* rows = nullptr);

// Whether a record, given in the order of the inputs, is of the share; of one
// by time, of its rows and of those before.  Reads the inputs for it.
// Throws Error: kData; the test, kData, of a record with no time.
std::function<bool(const Record&)> records_of_share(
    const Recipe& recipe, const std::vector<std::string>& inputs,
    const Share& share, BadRecords& bad);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_SERIES_SHARE_H_
