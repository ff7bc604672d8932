#include "libcore/vectorize/series/series_settings.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/vectorize/table/dates.h"

namespace dl::vectorize {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::string_view kByWords[] = {"mean", "last", "sum", "interpolate"};
constexpr std::string_view kGapWords[] = {"cut", "interpolate", "previous",
                                          "fail"};

const std::vector<RecipeKey>& all_series_keys() {
  static const std::vector<RecipeKey> keys = {
      {"window", KeyKind::kInteger, "", "Rows of an example.", 1, kMostSteps},
      {"horizon", KeyKind::kInteger, "1",
       "Rows to predict. 0: the labels are those of the window's last row, as "
       "its class.",
       0, kMostSteps},
      {"gap", KeyKind::kInteger, "0",
       "Rows between the window and the first that is predicted.", 0,
       kMostSteps},
      {"stride", KeyKind::kInteger, "1", "Rows from one window to the next.", 1,
       kMostSteps},
      {.name = "time",
       .doc = "The column of the time, by which rows are put in order. Without "
              "it they are in the order of the input."},
      {.name = "time_format",
       .doc = "The time as for *date*, %Y-%m-%d by default, or *number*."},
      {.name = "key",
       .doc = "The column that tells series apart: a window has rows of one."},
      {.name = "every",
       .doc = "Rows become steps of this length: a number and s, min, h, d, "
              "w, mo or y, as 15min; of a time that is a number, a number."},
      {.name = "resample",
       .kind = KeyKind::kOneOf,
       .fallback = "\"mean\"",
       .doc = "With *every*, the number of a step: *mean*, *last* or *sum* of "
              "its rows, or *interpolate*, on a line between the rows before "
              "and behind its begin.",
       .words = kByWords},
      {.name = "gaps",
       .kind = KeyKind::kOneOf,
       .fallback = "\"cut\"",
       .doc = "Missing numbers, and steps without rows: *cut*, no window has "
              "any; *interpolate*, on a line between those before and behind; "
              "*previous*, the number before; *fail*.",
       .words = kGapWords},
      {"season", KeyKind::kInteger, "1",
       "Rows of a season, for the naive forecast that *dl-eval*(1) compares "
       "with.",
       1, kMostSteps},
      {.name = "lags",
       .kind = KeyKind::kNumbers,
       .doc = "Further columns of *features* (or *features/past*): the targets "
              "so many rows before, load_lag24 of load for 24."},
      {"difference", KeyKind::kInteger, "0",
       "The targets become their differences from so many rows before, also as "
       "features; forecasts, and errors of *dl-eval*(1), are of the numbers "
       "themselves. 0: they stay as they are.",
       0, kMostSteps},
      {.name = "origin",
       .kind = KeyKind::kNumber,
       .doc = "A time at which a step of *every* begins, found in the data."},
      {.name = "step",
       .kind = KeyKind::kNumber,
       .doc = "The usual time from row to row, found in the data: seconds; "
              "months, where it is negative."},
      {.name = "naive",
       .kind = KeyKind::kNumbers,
       .doc = "For each target the mean error of the seasonal naive forecast "
              "of the training data, found in these."},
      {.name = "baseline",
       .kind = KeyKind::kNumbers,
       .doc = "Errors of the naive forecasts on the windows of the stream, "
              "where *season* is longer than *window*, or with *difference*: "
              "of each output absolute, squared and *smape*, naive and "
              "seasonal, then mean and mean square of the target; -1 is none. "
              "Found in the data."}};
  return keys;
}

}  // namespace

std::span<const RecipeKey> series_keys() { return all_series_keys(); }

SeriesSettings series_settings(const Json& json) {
  const RecipeSettings given(json, series_keys());
  SeriesSettings s;
  s.window = given.integer("window");
  s.horizon = given.integer("horizon");
  s.gap = given.integer("gap");
  s.stride = given.integer("stride");
  s.season = given.integer("season");
  if (s.horizon == 0 && s.gap > 0)
    bad_config("a gap is for a horizon of 1 or more");
  if (given.has("time")) s.time = given.text("time");
  if (given.has("key")) s.key = given.text("key");
  s.time_format = given.has("time_format") ? given.text("time_format")
                                           : std::string(DateFormat::kIso);
  if (!s.has_number_times()) (void)DateFormat(s.time_format);
  if (given.has("every")) {
    if (s.time.empty()) bad_config("every wants a column of the time");
    s.every = parse_step(given.text("every"));
    if (s.every->is_plain != s.has_number_times())
      bad_config(s.every->is_plain
                     ? "every wants a unit, as 1h: s, min, h, d, w, mo or y"
                     : "every has a unit, but the time is a number");
  }
  s.by = static_cast<Resampling>(given.word("resample", kByWords));
  s.gaps = static_cast<Gaps>(given.word("gaps", kGapWords));
  s.difference = given.integer("difference");
  if (s.difference > 0 && s.gap > 0)
    bad_config("a gap does not go with a difference");
  if (given.has("lags"))
    for (const double lag : given.numbers("lags")) {
      if (!(lag >= 1 && lag <= kMostSteps) || lag != std::floor(lag))
        bad_config("lags: want rows before, 1.." + std::to_string(kMostSteps) +
                   ", got " + time_text(lag, true));
      if (std::ranges::count(s.lags, static_cast<std::int64_t>(lag)) > 0)
        bad_config("lags: " + time_text(lag, true) + " is there twice");
      s.lags.push_back(static_cast<std::int64_t>(lag));
    }
  if (given.has("origin")) s.origin = given.number("origin");
  if (given.has("step")) s.step = given.number("step");
  if (given.has("naive")) s.naive = given.numbers("naive");
  return s;
}

}  // namespace dl::vectorize
