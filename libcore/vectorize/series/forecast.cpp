#include "libcore/vectorize/series/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/data/format/decode.h"
#include "libcore/data/format/windows.h"
#include "libcore/vectorize/series/history.h"
#include "libcore/vectorize/series/series_rows.h"

namespace dl::vectorize {
namespace {

Recipe recipe_of_series(const data::Metadata& known) {
  if (known.recipe.is_null() || !known.recipe.contains("series"))
    bad_data(
        "the model is of no series: dl-preprocess series makes what it "
        "has to learn from");
  Recipe recipe =
      Recipe::from_json(known.recipe, "the model's recipe", Code::kData);
  recipe.from = RecipeFrom::kModel;
  return recipe;
}

}  // namespace

struct Forecast::State {
  Recipe recipe;
  SeriesSettings settings;
  RowMaker maker;
  SeriesTable table;
  data::Metadata metadata, plain;
  std::vector<std::string> targets;
  std::int64_t steps;
  std::vector<std::size_t> known;  // rows of each series that were there
  // Targets of the rows that differences are from, series by series.
  std::vector<std::vector<double>> levels;
  std::int64_t done = 0;                   // steps that are predicted
  std::size_t taken = 0;                   // predictions of this pass
  std::vector<std::vector<float>> values;  // of each series, step by step

  State(const data::Metadata& of, std::int64_t wanted)
      : recipe(recipe_of_series(of)),
        settings(series_settings(recipe.series)),
        maker(recipe, settings, {}, false),
        steps(wanted) {}

  std::size_t width() const { return maker.width(); }
  void find_targets();
  std::size_t known_rows(const SeriesRows& series) const;
  std::size_t wanted_rows() const;
  void pass_over_short(const Log& log);
  std::vector<double> levels_of(const SeriesRows& series,
                                std::size_t rows) const;
  void lengthen(SeriesRows& series, std::size_t rows) const;
  std::size_t first_of_window(std::size_t series) const;
  void check(const SeriesRows& series, std::size_t first) const;
};

// Targets that are among the features, which predictions are put into.
void Forecast::State::find_targets() {
  for (const RecipeTensor& tensor : recipe.tensors)
    if (tensor.name.starts_with("labels"))
      for (const RecipePart& part : tensor.parts) {
        if (part.type->name != "number")
          bad_usage("--forecast is for numbers; the model tells classes");
        for (const std::string& name : part.settings().texts("from"))
          targets.push_back(name);
      }
  if (targets.empty() || settings.horizon == 0)
    bad_usage("--forecast: the model predicts nothing of later rows");
  if (maker.target_names() != targets &&
      (steps > settings.horizon || settings.gap > 0))
    bad_usage("--forecast: the model predicts " +
              std::to_string(settings.horizon) +
              " rows, and more only of columns that are among its features");
}

// Rows behind the last one with all targets are of steps to come.
std::size_t Forecast::State::known_rows(const SeriesRows& series) const {
  std::size_t rows = series.rows();
  const auto& columns = maker.targets();
  while (rows > 0 && std::ranges::any_of(columns, [&](std::size_t column) {
           return std::isnan(series.row(rows - 1, width())[column]);
         }))
    --rows;
  return rows;
}

std::size_t Forecast::State::wanted_rows() const {
  return static_cast<std::size_t>(settings.window + settings.gap +
                                  settings.difference + settings.longest_lag());
}

// Takes series out that are too short, which is told.
void Forecast::State::pass_over_short(const Log& log) {
  constexpr std::size_t kMostLines = 5;
  std::vector<std::string> sentences;
  std::erase_if(table.series, [&](const SeriesRows& series) {
    const std::size_t rows = known_rows(series);
    if (rows >= wanted_rows()) return false;
    sentences.push_back(
        "a series" +
        (series.key.empty() ? "" : " of " + in_quotes(series.key)) + " has " +
        counted(static_cast<std::int64_t>(rows), "row") +
        " with what is predicted, a forecast wants " +
        std::to_string(wanted_rows()));
    return true;
  });
  if (table.series.empty()) bad_data(sentences.at(0));
  if (!log) return;
  for (std::size_t i = 0; i < std::min(sentences.size(), kMostLines); ++i)
    log(Level::kWarning, sentences[i] + ": passed over");
  if (sentences.size() > kMostLines)
    log(Level::kWarning, std::to_string(sentences.size() - kMostLines) +
                             " more series are too short, and passed over");
}

std::vector<double> Forecast::State::levels_of(const SeriesRows& series,
                                               std::size_t rows) const {
  std::vector<double> all;
  for (auto i = rows - static_cast<std::size_t>(settings.difference); i < rows;
       ++i)
    for (const std::size_t column : maker.targets())
      all.push_back(series.row(i, width())[column]);
  return all;
}

// Adds rows of the times to come, of which the calendar alone is known, and
// what stays as it was.
void Forecast::State::lengthen(SeriesRows& series, std::size_t rows) const {
  std::set<std::size_t> fixed;
  for (const auto& [name, field] : metadata.schema)
    if (name.ends_with("/static"))
      for (const std::int64_t column : field.window.columns)
        fixed.insert(static_cast<std::size_t>(column));
  const std::size_t last = series.rows() - 1;
  const std::vector<Time> known_times(series.times.begin(), series.times.end());
  for (std::size_t i = series.rows(); i < rows; ++i) {
    series.times.push_back(time_ahead(known_times, table.step,
                                      static_cast<std::int64_t>(i - last)));
    for (std::size_t c = 0; c < width(); ++c)
      series.values.push_back(fixed.contains(c)
                                  ? series.row(last, width())[c]
                                  : std::numeric_limits<float>::quiet_NaN());
    maker.put_calendar(series.times[i], series.row(i, width()));
  }
}

std::size_t Forecast::State::first_of_window(std::size_t series) const {
  return known[series] + static_cast<std::size_t>(done) -
         static_cast<std::size_t>(settings.window + settings.gap);
}

void Forecast::State::check(const SeriesRows& series, std::size_t first) const {
  for (const auto& [name, field] : metadata.schema) {
    if (field.encoding != data::Encoding::kWindow) continue;
    const std::size_t rows = static_cast<std::size_t>(field.shape.elements()) /
                             field.window.columns.size();
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t c = 0; c < field.window.columns.size(); ++c) {
        const std::size_t at =
            first + static_cast<std::size_t>(field.window.first) + i;
        const auto column = static_cast<std::size_t>(field.window.columns[c]);
        if (!std::isnan(series.row(at, width())[column])) continue;
        const auto slash = name.find('/');
        const auto& columns =
            slash == std::string::npos
                ? metadata.columns
                : metadata.parts.at(name.substr(slash + 1)).columns;
        bad_data("a forecast wants " + in_quotes(columns.at(c)) + " at " +
                 table.text_of(series, series.times[at]) +
                 (series.key.empty() ? "" : " of " + in_quotes(series.key)) +
                 ": give rows of the times to come that have it");
      }
  }
}

Forecast::Forecast(const data::Metadata& known, const Inputs& inputs,
                   std::int64_t steps, BadRecords& bad)
    : state_(std::make_unique<State>(known, steps)) {
  State& s = *state_;
  s.find_targets();
  s.table =
      read_series(*s.recipe.open(inputs, false), s.maker, s.settings, bad);
  if (s.table.series.empty()) bad_data("the input has no rows");
  if (s.settings.step) {  // as in the training data
    s.table.step.seconds = *s.settings.step;
    s.table.step.months =
        *s.settings.step < 0 ? std::llround(-*s.settings.step) : 0;
  }
  s.metadata = s.maker.metadata();
  s.plain = s.metadata.decoded();
  s.plain.recipe = known.recipe;
  const auto span = static_cast<std::size_t>(
      s.metadata.schema.at(data::kSeriesName).shape[0]);
  for (SeriesRows& series : s.table.series)
    fill_gaps(series, s.maker, s.settings);
  s.pass_over_short(inputs.log);
  for (SeriesRows& series : s.table.series) {
    const std::size_t rows = s.known_rows(series);
    s.known.push_back(rows);
    s.levels.push_back(s.levels_of(series, rows));
    put_differences(series, s.maker, s.settings.difference);
    s.lengthen(
        series,
        rows + static_cast<std::size_t>(steps + s.settings.horizon) + span);
    put_lags(series, s.maker, 0, series.rows());
    s.values.emplace_back();
  }
}
Forecast::~Forecast() = default;

const data::Metadata& Forecast::metadata() const { return state_->plain; }
const std::vector<std::string>& Forecast::targets() const {
  return state_->targets;
}

bool Forecast::next(data::DataSet& windows) {
  State& s = *state_;
  if (s.done >= s.steps) return false;
  auto all = data::encoded_like(s.metadata.schema.at(data::kSeriesName));
  for (std::size_t i = 0; i < s.table.series.size(); ++i) {
    const SeriesRows& series = s.table.series[i];
    const std::size_t first = s.first_of_window(i);
    s.check(series, first);
    all.append(std::as_bytes(
        std::span(series.values)
            .subspan(first * s.width(),
                     static_cast<std::size_t>(all.steps) * s.width())));
  }
  windows = {};
  windows.encoded.emplace(data::kSeriesName, std::move(all));
  data::add_views(windows, s.metadata.schema);
  data::cut_windows(windows, data::kMaxRecordBytes);
  windows.encoded.clear();
  windows.views.clear();
  s.taken = 0;
  return true;
}

void Forecast::take(const tensor::Tensor& predictions) {
  State& s = *state_;
  const auto horizon = static_cast<std::size_t>(s.settings.horizon);
  const std::size_t each = horizon * s.targets.size();
  if (predictions.shape().rank() != 2 ||
      std::cmp_not_equal(predictions.shape()[1], each))
    bad_usage("--forecast: the model's output is " +
              predictions.shape().without_first().to_string() + ", want " +
              std::to_string(each) + " numbers, targets of each row");
  const auto numbers = predictions.as<float>();
  for (std::size_t at = 0; at < numbers.size(); at += each) {
    const std::size_t i = s.taken++;
    SeriesRows& series = s.table.series.at(i);
    const auto own = numbers.subspan(at, each);
    if (!std::ranges::all_of(own, [](float y) { return std::isfinite(y); }))
      bad_data("a forecast is not finite" +
               (series.key.empty() ? "" : ", of " + in_quotes(series.key)));
    s.values[i].insert(s.values[i].end(), own.begin(), own.end());
    for (std::size_t h = 0; h < horizon; ++h) {
      const std::size_t row = s.known[i] + static_cast<std::size_t>(s.done) + h;
      for (std::size_t t = 0; t < s.maker.targets().size(); ++t)
        series.row(row, s.width())[s.maker.targets()[t]] =
            own[h * s.targets.size() + t];
      put_lags(series, s.maker, row, row + 1);
    }
  }
  if (s.taken == s.table.series.size()) s.done += s.settings.horizon;
}

void Forecast::each(const std::function<void(const ForecastRow&)>& take) const {
  const State& s = *state_;
  for (std::size_t i = 0; i < s.table.series.size(); ++i) {
    const SeriesRows& series = s.table.series[i];
    std::vector<double> levels = s.levels[i];
    for (std::int64_t step = 0; step < s.steps; ++step) {
      ForecastRow row;
      row.key = series.key;
      row.is_number = s.settings.has_number_times();
      if (!s.settings.time.empty())
        row.time = s.table.text_of(
            series, series.times[s.known[i] + static_cast<std::size_t>(step)]);
      row.step = step + 1;
      const auto at = s.values[i].begin() +
                      step * static_cast<std::int64_t>(s.targets.size());
      row.values.assign(at, at + static_cast<std::int64_t>(s.targets.size()));
      // Undoes differences; levels are a ring of the rows before.
      for (std::size_t t = 0; t < row.values.size() && !levels.empty(); ++t) {
        double& level =
            levels[(static_cast<std::size_t>(step) * row.values.size() + t) %
                   levels.size()];
        level += row.values[t];
        row.values[t] = static_cast<float>(level);
      }
      take(row);
    }
  }
}

}  // namespace dl::vectorize
