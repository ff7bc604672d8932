// dl-preprocess series: windows of a table in the order of time.

#ifndef DL_TOOLS_DL_PREPROCESS_SERIES_H_
#define DL_TOOLS_DL_PREPROCESS_SERIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/series/propose_series.h"
#include "libcore/vectorize/text.h"
#include "tools/dl-preprocess-options.h"
#include "tools/dl-preprocess-table.h"

inline dl::Json lags_of(const std::string& list) {
  dl::Json rows = dl::Json::array();
  for (const std::string& word : dl::vectorize::split(list, ',')) {
    std::int64_t number = 0;
    if (!dl::vectorize::parse_integer(word, number))
      dl::bad_usage("--lags: want numbers of rows, as 1,24,168, got " +
                    dl::in_quotes(word));
    rows.push_back(number);
  }
  return rows;
}

// The settings of "series" that options give.
inline dl::Json series_settings_of(const Args& a) {
  dl::Json json = a.series.settings;
  if (a.series_window < 1)
    dl::bad_usage("series wants --window N, the rows of an example");
  json["window"] = a.series_window;
  const auto put = [&](const char* option, const char* key, const auto& value) {
    if (a.options->given(option)) json[key] = value;
  };
  put("stride", "stride", a.stride);
  put("horizon", "horizon", a.horizon);
  put("gap", "gap", a.gap);
  put("difference", "difference", a.difference);
  put("season", "season", a.season);
  put("time", "time", a.time);
  put("time-format", "time_format", a.time_format);
  put("key", "key", a.key);
  put("every", "every", a.every);
  put("resample", "resample", a.resample);
  put("gaps", "gaps", a.gaps);
  if (a.options->given("lags")) json["lags"] = lags_of(a.lags);
  return json;
}

// The recipe that rows and options ask for, which is told; unfitted.
inline dl::vectorize::Recipe inferred_series(
    const Args& a, const std::vector<std::string>& inputs) {
  if (a.csv.label.empty())
    dl::bad_usage("series wants --label COLUMN, the one to predict; or none");
  const auto table = inferred_table(a, inputs);
  dl::vectorize::SeriesChoices choices = a.series;
  choices.label = a.csv.label;
  choices.drop = a.csv.drop;
  choices.classes = a.reader.classes;
  choices.settings = series_settings_of(a);
  const auto proposed =
      dl::vectorize::propose_series(table.profile, choices, table.source);
  auto recipe = dl::vectorize::Recipe::from_json(proposed.recipe, "the options",
                                                 dl::Code::kUsage);
  report_columns(table, proposed);
  return recipe;
}

#endif  // DL_TOOLS_DL_PREPROCESS_SERIES_H_
