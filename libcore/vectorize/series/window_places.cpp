#include "libcore/vectorize/series/window_places.h"

#include <algorithm>
#include <cmath>

#include "libcore/data/format/windows.h"

namespace dl::vectorize {
namespace {

// Rows of a tensor, looked at window by window, from front to back.
class TensorRows {
 public:
  TensorRows(const SeriesRows& series, std::size_t width,
             const data::Field& field)
      : series_(series),
        width_(width),
        columns_(field.window.columns),
        first_(static_cast<std::size_t>(field.window.first)),
        rows_(static_cast<std::size_t>(field.shape.elements()) /
              columns_.size()) {}

  // Whether a number is missing in those of the window that begins there.
  bool lacks_any(std::size_t window) {
    for (; seen_ < window + first_ + rows_; ++seen_)
      if (is_missing(seen_)) missing_end_ = seen_ + 1;
    return missing_end_ > window + first_;
  }

 private:
  bool is_missing(std::size_t i) const {
    const auto row = series_.row(i, width_);
    return std::ranges::any_of(columns_, [&](std::int64_t column) {
      return std::isnan(row[static_cast<std::size_t>(column)]);
    });
  }

  const SeriesRows& series_;
  std::size_t width_;
  std::vector<std::int64_t> columns_;
  std::size_t first_, rows_;     // of a window
  std::size_t seen_ = 0;         // rows
  std::size_t missing_end_ = 0;  // behind the last with a missing number
};

// The row of a window that decides which part it is in.
std::size_t deciding_row(const std::map<std::string, data::Field>& schema) {
  for (const auto& [name, field] : schema)
    if (name.starts_with("labels"))
      return static_cast<std::size_t>(field.window.first);
  return 0;
}

}  // namespace

WindowPlaces window_places(const SeriesTable& table, std::size_t width,
                           const std::map<std::string, data::Field>& schema,
                           std::int64_t stride, std::size_t history, Time begin,
                           bool at_end) {
  WindowPlaces places;
  const auto steps =
      static_cast<std::size_t>(schema.at(data::kSeriesName).shape[0]);
  const std::size_t deciding = deciding_row(schema);
  const auto by = static_cast<std::size_t>(stride);
  for (std::size_t s = 0; s < table.series.size(); ++s) {
    const SeriesRows& series = table.series[s];
    if (series.rows() < steps) continue;
    std::vector<TensorRows> tensors;
    for (const auto& [name, field] : schema)
      if (field.encoding == data::Encoding::kWindow)
        tensors.emplace_back(series, width, field);
    bool goes_on = false;
    const std::size_t last = series.rows() - steps;
    for (std::size_t first = at_end ? last % by : 0; first <= last;
         first += by) {
      bool lacks_any = false;
      for (TensorRows& tensor : tensors)
        lacks_any = tensor.lacks_any(first) || lacks_any;
      const bool is_own = series.times[first + deciding] >= begin;
      const bool is_one = is_own && !lacks_any;
      if (is_own && lacks_any && first >= history) ++places.lacking;
      if (is_one && goes_on)
        ++places.rows.back().count;
      else if (is_one)
        places.rows.push_back({s, first, 1});
      goes_on = is_one;
    }
  }
  return places;
}

}  // namespace dl::vectorize
