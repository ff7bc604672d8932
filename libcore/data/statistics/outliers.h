// Columns that a few values decide: those by which the rest is scaled.

#ifndef DL_LIBCORE_DATA_STATISTICS_OUTLIERS_H_
#define DL_LIBCORE_DATA_STATISTICS_OUTLIERS_H_

#include <cstddef>
#include <vector>

#include "libcore/data/statistics/statistics.h"

namespace dl::data {

// Columns of 100 values or more whose spread is that of one or two of them, of
// a million or more: standardized, all others are alike.  Ascending.
std::vector<std::size_t> columns_of_outliers(const Statistics& statistics);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_STATISTICS_OUTLIERS_H_
