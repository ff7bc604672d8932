// Detection of columns whose scale a few values decide.

#include "libcore/data/statistics/outliers.h"

#include <algorithm>
#include <cmath>

namespace dl::data {

std::vector<std::size_t> columns_of_outliers(const Statistics& statistics) {
  constexpr std::int64_t kFewest = 100;  // values; of fewer each counts
  constexpr double kLarge = 1e6;
  constexpr double kShare = 0.4;  // of all squared deviations: one of two
  std::vector<std::size_t> columns;
  if (statistics.count < kFewest) return columns;
  for (std::size_t c = 0; c < statistics.mean.size(); ++c) {
    const double reach = std::max(statistics.max[c] - statistics.mean[c],
                                  statistics.mean[c] - statistics.min[c]);
    const double largest =
        std::max(std::fabs(statistics.max[c]), std::fabs(statistics.min[c]));
    if (largest >= kLarge && reach * reach >= kShare * statistics.m2[c])
      columns.push_back(c);
  }
  return columns;
}

}  // namespace dl::data
