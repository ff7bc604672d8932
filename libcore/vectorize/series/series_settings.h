// Settings of "series" in a recipe, dl-recipe(5): how rows in the order of time
// become windows.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_SERIES_SETTINGS_H_
#define DL_LIBCORE_VECTORIZE_SERIES_SERIES_SETTINGS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/vectorize/recipe/keys.h"
#include "libcore/vectorize/series/time_step.h"

namespace dl::vectorize {

enum class Resampling { kMean, kLast, kSum, kInterpolate };
enum class Gaps { kCut, kInterpolate, kPrevious, kFail };

struct SeriesSettings {
  std::int64_t window = 1, horizon = 1, gap = 0, stride = 1, season = 1;
  std::string time, time_format, key;  // columns; "": none
  std::optional<TimeStep> every;
  Resampling by = Resampling::kMean;
  Gaps gaps = Gaps::kCut;
  // Found in the training data: where steps begin, the usual distance of rows,
  // and the mean error of the seasonal naive forecast, for each target.
  std::optional<double> origin, step;
  // Rows before, of which targets are features; and of which they are
  // differences, or 0.
  std::vector<std::int64_t> lags;
  std::int64_t difference = 0;
  std::vector<double> naive;

  std::int64_t longest_lag() const {
    return lags.empty() ? 0 : *std::ranges::max_element(lags);
  }
  bool has_number_times() const { return time_format == kNumberFormat; }
  static constexpr const char* kNumberFormat = "number";
};

std::span<const RecipeKey> series_keys();
constexpr const char* kSeriesWords =
    "Rows in the order of time become windows: an example is *window* rows "
    "that follow one another. *features* (or features/NAME) are these rows; "
    "*features/known* are the *horizon* rows that are to be predicted, of "
    "columns that are known ahead; *features/static* is the first row; "
    "*labels* are the rows to be predicted as one row of numbers.";
// json: checked by series_keys().  Throws Error: kConfig.
SeriesSettings series_settings(const Json& json);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_SERIES_SETTINGS_H_
