#include "libcore/vectorize/series/history.h"

#include <limits>

namespace dl::vectorize {

void put_differences(SeriesRows& series, const RowMaker& maker,
                     std::int64_t rows) {
  if (rows == 0) return;
  const auto before = static_cast<std::size_t>(rows);
  const std::size_t width = maker.width();
  for (std::size_t i = series.rows(); i-- > 0;)
    for (const std::size_t column : maker.targets()) {
      float& value = series.row(i, width)[column];
      value = i < before ? std::numeric_limits<float>::quiet_NaN()
                         : value - series.row(i - before, width)[column];
    }
}

void put_lags(SeriesRows& series, const RowMaker& maker, std::size_t first,
              std::size_t last) {
  const std::size_t width = maker.width();
  for (std::size_t i = first; i < last; ++i)
    for (const LagColumn& lag : maker.lags()) {
      const std::size_t to = i + static_cast<std::size_t>(lag.rows);
      if (to < series.rows())
        series.row(to, width)[lag.column] = series.row(i, width)[lag.of];
    }
}

}  // namespace dl::vectorize
