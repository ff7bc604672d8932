// The border between the parts of a split by time.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_BORDER_H_
#define DL_LIBCORE_VECTORIZE_SERIES_BORDER_H_

#include <functional>
#include <string>
#include <vector>

#include "libcore/vectorize/recipe/recipe.h"
#include "libcore/vectorize/series/series_rows.h"

namespace dl::vectorize {

// The time before which this share of the rows of all series lies; infinity
// for all of them.
Time border_of(const SeriesTable& table, double share);

// Whether a record, given in the order of the inputs, is of the part that has
// this share of the time from its begin on.  Reads the inputs for it.
// Throws Error: kData; the test, kData, of a record with no time.
std::function<bool(const Record&)> records_before(
    const Recipe& recipe, const std::vector<std::string>& inputs, double share,
    BadRecords& bad);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_BORDER_H_
