#include "libcore/vectorize/series/window_places.h"

#include <algorithm>
#include <cmath>

#include "libcore/data/format/windows.h"

namespace dl::vectorize {
namespace {

// Rows of a tensor in which a number is missing, summed up.
struct MissingRows {
  std::size_t first = 0, rows = 0;  // of the window
  std::vector<std::int64_t> before;

  bool any(std::size_t window) const {
    return before[window + first + rows] != before[window + first];
  }
};

MissingRows missing_rows(const SeriesRows& series, std::size_t width,
                         const data::Field& field) {
  MissingRows missing;
  missing.first = static_cast<std::size_t>(field.window.first);
  missing.rows = static_cast<std::size_t>(field.shape.elements()) /
                 field.window.columns.size();
  missing.before.push_back(0);
  for (std::size_t i = 0; i < series.rows(); ++i) {
    const auto row = series.row(i, width);
    const bool is_missing =
        std::ranges::any_of(field.window.columns, [&](std::int64_t column) {
          return std::isnan(row[static_cast<std::size_t>(column)]);
        });
    missing.before.push_back(missing.before.back() + (is_missing ? 1 : 0));
  }
  return missing;
}

// The row of a window that decides which part it is in.
std::size_t deciding_row(const std::map<std::string, data::Field>& schema) {
  for (const auto& [name, field] : schema)
    if (name.starts_with("labels"))
      return static_cast<std::size_t>(field.window.first);
  return 0;
}

}  // namespace

std::vector<WindowRow> window_places(
    const SeriesTable& table, std::size_t width,
    const std::map<std::string, data::Field>& schema, std::int64_t stride,
    Time begin, bool at_end) {
  std::vector<WindowRow> places;
  const auto steps = static_cast<std::size_t>(
      schema.at(data::kSeriesName).shape[0]);
  const std::size_t deciding = deciding_row(schema);
  const auto by = static_cast<std::size_t>(stride);
  for (std::size_t s = 0; s < table.series.size(); ++s) {
    const SeriesRows& series = table.series[s];
    if (series.rows() < steps) continue;
    std::vector<MissingRows> missing;
    for (const auto& [name, field] : schema)
      if (field.encoding == data::Encoding::kWindow)
        missing.push_back(missing_rows(series, width, field));
    bool goes_on = false;
    const std::size_t last = series.rows() - steps;
    for (std::size_t first = at_end ? last % by : 0; first <= last;
         first += by) {
      const bool is_one =
          series.times[first + deciding] >= begin &&
          std::ranges::none_of(
              missing, [&](const MissingRows& rows) { return rows.any(first); });
      if (is_one && goes_on)
        ++places.back().count;
      else if (is_one)
        places.push_back({s, first, 1});
      goes_on = is_one;
    }
  }
  return places;
}

}  // namespace dl::vectorize
