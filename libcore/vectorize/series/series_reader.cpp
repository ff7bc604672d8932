#include "libcore/vectorize/series/series_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/data/format/decode.h"
#include "libcore/data/format/windows.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/series/baseline.h"
#include "libcore/vectorize/series/history.h"
#include "libcore/vectorize/series/holes.h"
#include "libcore/vectorize/series/series_share.h"
#include "libcore/vectorize/series/window_places.h"

namespace dl::vectorize {
namespace {

constexpr Time kNever = std::numeric_limits<Time>::infinity();

class SeriesReading : public Reader {
 public:
  SeriesReading(const Recipe& recipe, const Inputs& inputs,
                const RecipeOptions& options, BadRecords& bad)
      : options_(options),
        settings_(series_settings(recipe.series)),
        maker_(recipe, settings_, options.classes, options.labels),
        has_ids_(recipe.from == RecipeFrom::kModel) {
    check_options();
    const auto source = recipe.open(inputs, options.labels);
    table_ = read_rows(*source, maker_, settings_, bad);
    std::optional<SeriesTable> rows;
    if (leans_on_others()) rows = table_.copy();
    make_steps(table_, maker_, settings_);
    const std::size_t longest = longest_series();
    metadata_ = maker_.metadata();
    look_for_holes(inputs.log);
    // Shares that others are trained on and tested by have one recipe.
    const bool is_part_of_time = options_.share.cut == SeriesCut::kTime;
    if (!is_part_of_time) naive_ = naive_errors();
    const Time begin = is_share()
                           ? take_share(table_, maker_.width(), options_.share,
                                        rows ? &*rows : nullptr)
                           : -kNever;
    if (rows) {
      table_ = *std::exchange(rows, std::nullopt);
      make_steps(table_, maker_, settings_);
    }
    for (SeriesRows& series : table_.series)
      filled_ += fill_gaps(series, maker_, settings_);
    if (is_part_of_time) naive_ = naive_errors();
    const Baseline baseline(table_, maker_, settings_);
    for (SeriesRows& series : table_.series) {
      put_differences(series, maker_, settings_.difference);
      put_lags(series, maker_, 0, series.rows());
    }
    WindowPlaces found =
        window_places(table_, maker_.width(), metadata_.schema,
                      settings_.stride, history(), begin, !options.labels);
    places_ = std::move(found.rows);
    lacking_ = found.lacking;
    metadata_.recipe = resolved(recipe);
    if (baseline.is_wanted() && options.labels)
      metadata_.recipe["series"]["baseline"] = baseline.numbers(places_);
    if (has_ids_) metadata_.schema["id"] = id_field();
    plain_ = metadata_.decoded().schema;
    windows_ = windows_of_record();
    if (inputs.log) tell(inputs.log);
    if (places_.empty() && table_.records > 0) refuse(longest);
  }

  bool read(data::DataSet& set) override {
    set = {};
    auto series = data::encoded_like(metadata_.schema.at(data::kSeriesName));
    std::vector<std::string> ids;
    while (at_ < places_.size() && series.examples() < windows_)
      take(series, ids);
    if (series.examples() == 0) return false;
    set.encoded.emplace(data::kSeriesName, std::move(series));
    data::add_views(set, metadata_.schema);
    data::cut_windows(set, data::kMaxRecordBytes);
    if (has_ids_) put_ids(set, ids);
    given_ += set.examples();
    return true;
  }

  data::Metadata metadata() const override { return metadata_; }
  std::int64_t examples() const override { return given_; }

 private:
  void check_options() const {
    if (options_.parts > 1)
      bad_usage("--part is not for series, which are read as a whole");
    if (options_.preview) bad_usage("--preview is for pictures");
    if (options_.share.cut == SeriesCut::kKey && settings_.key.empty())
      bad_usage(
          "--split-by key wants --key, the column that tells series apart");
  }
  // Without `every` windows run over steps that have no row.
  void look_for_holes(const Log& log) {
    if (settings_.time.empty()) return;
    steps_ = step_words(table_, are_numbers());
    if (settings_.every) return;
    const auto words = words_of_holes(table_, are_numbers());
    if (!words) return;
    const bool is_of_model = has_ids_;
    if (settings_.gaps != Gaps::kCut && !is_of_model)
      bad_data("gaps without every: " + *words);
    // Once, with the first of the shares.
    if (log && options_.share.low <= 0) log(Level::kWarning, *words);
  }
  bool is_share() const {
    return options_.share.low > 0 || options_.share.high < 1;
  }
  // Whether steps at a border would be made of rows beyond it, so that they are
  // made again of the rows of the share alone.
  bool leans_on_others() const {
    const SeriesCut cut = options_.share.cut;
    return settings_.every && is_share() && cut != SeriesCut::kKey &&
           (settings_.by == Resampling::kInterpolate ||
            cut == SeriesCut::kBlock);
  }
  std::int64_t steps() const {
    return metadata_.schema.at(data::kSeriesName).shape[0];
  }
  bool are_numbers() const {
    return settings_.time.empty() || settings_.has_number_times();
  }

  std::size_t history() const {
    return static_cast<std::size_t>(settings_.difference +
                                    settings_.longest_lag());
  }
  std::size_t longest_series() const {
    std::size_t rows = 0;
    for (const SeriesRows& series : table_.series)
      rows = std::max(rows, series.rows());
    return rows;
  }

  // Tells why there is no window.  longest: rows of a series before the share
  // was taken.
  [[noreturn]] void refuse(std::size_t longest) const {
    std::string text = "no window of " + std::to_string(steps()) + " rows";
    if (history() > 0)
      text += ", and " + std::to_string(history()) + " before,";
    text += " fits the series";
    if (is_share()) text += " of a share of --split or --folds";
    text += ": of " + counted(table_.records, "row");
    const std::size_t wanted = static_cast<std::size_t>(steps()) + history();
    if (lacking_ > 0) bad_data(text + ", all windows" + lacking_words());
    const bool is_short = longest < wanted;
    text += ", the longest series has " +
            std::to_string(is_short ? longest : longest_series());
    if (!is_short) text += " of " + std::to_string(longest) + " in it";
    if (has_ids_) bad_data(text);
    const SeriesCut cut = options_.share.cut;
    bad_data(text + ": want " +
             (is_short                   ? "more rows"
              : cut == SeriesCut::kBlock ? "fewer folds"
              : cut == SeriesCut::kKey   ? "fewer parts"
                                         : "a larger share") +
             ", or a shorter --window");
  }

  // Ends a sentence on windows, with the remedy.
  std::string lacking_words() const {
    std::string text = " miss numbers";
    if (settings_.gaps != Gaps::kCut)
      text += " at the start or end of a series";
    else if (!has_ids_)
      text += " (--gaps interpolate or previous fills them in)";
    return text;
  }

  // The recipe with all that was found in the data.
  Json resolved(const Recipe& recipe) const {
    Json json = recipe.to_json();
    Json& series = json["series"];
    if (settings_.every && !series.contains("origin"))
      series["origin"] = table_.origin;
    if (!series.contains("step"))
      series["step"] = table_.step.months > 0
                           ? -static_cast<double>(table_.step.months)
                           : table_.step.seconds;
    if (!series.contains("naive") && options_.labels &&
        !maker_.targets().empty())
      series["naive"] = naive_;
    return json;
  }

  // Mean errors of the forecast that a number is that of a season before.
  Json naive_errors() const {
    Json errors = Json::array();
    const auto season = static_cast<std::size_t>(settings_.season);
    for (const std::size_t column : maker_.targets()) {
      double sum = 0;
      std::int64_t count = 0;
      for (const SeriesRows& series : table_.series)
        for (std::size_t i = season; i < series.rows(); ++i) {
          const double error = double{series.row(i, maker_.width())[column]} -
                               series.row(i - season, maker_.width())[column];
          if (std::isnan(error)) continue;
          sum += std::abs(error);
          ++count;
        }
      errors.push_back(count == 0 ? 0 : sum / static_cast<double>(count));
    }
    return errors;
  }

  // Windows of a record: so many that few rows are in two records.
  std::int64_t windows_of_record() const {
    constexpr std::int64_t kLeast = 4096, kShared = 16;
    const std::int64_t wanted = options_.batch > 0
                                    ? options_.batch
                                    : std::max(kLeast, kShared * steps());
    return record_examples(wanted, plain_);
  }

  // Appends windows of one place to a record.
  void take(data::Encoded& to, std::vector<std::string>& ids) {
    WindowRow& place = places_[at_];
    const std::int64_t n = std::min(place.count, windows_ - to.examples());
    const std::int64_t rows = (n - 1) * settings_.stride + steps();
    const SeriesRows& series = table_.series[place.series];
    const auto from =
        std::span(series.values)
            .subspan(place.first * maker_.width(),
                     static_cast<std::size_t>(rows) * maker_.width());
    const std::int64_t first = to.values();
    const auto bytes = std::as_bytes(from);
    to.bytes.insert(to.bytes.end(), bytes.begin(), bytes.end());
    to.add_run(first, settings_.stride, n);
    const auto by = static_cast<std::size_t>(settings_.stride);
    for (std::int64_t i = 0; i < n && has_ids_; ++i)
      ids.push_back(
          id_of(series, place.first + static_cast<std::size_t>(i) * by));
    place.first += static_cast<std::size_t>(n) * by;
    place.count -= n;
    if (place.count == 0) ++at_;
  }

  // "key@time" of the first row that is predicted.
  std::string id_of(const SeriesRows& series, std::size_t first) const {
    const auto last = first + static_cast<std::size_t>(settings_.window) - 1;
    const auto ahead = static_cast<std::size_t>(
        settings_.horizon == 0 ? 0 : settings_.gap + 1);
    Time time = 0;
    if (last + ahead < series.rows()) {
      time = series.times[last + ahead];
    } else {
      const std::size_t known = series.rows() - 1;
      time = time_ahead(series.times, table_.step,
                        static_cast<std::int64_t>(last + ahead - known));
    }
    const std::string text = table_.text_of(series, time);
    return series.key.empty() ? text : series.key + "@" + text;
  }

  data::Field id_field() const {
    constexpr std::size_t kTime = 48;
    std::size_t longest = 0;
    for (const SeriesRows& series : table_.series)
      longest = std::max(longest, series.key.size());
    return {tensor::DType::kU8, {static_cast<std::int64_t>(longest + kTime)}};
  }

  void put_ids(data::DataSet& set, const std::vector<std::string>& ids) const {
    const std::int64_t width = metadata_.schema.at("id").shape[0];
    tensor::Tensor all(tensor::DType::kU8,
                       {static_cast<std::int64_t>(ids.size()), width});
    for (std::size_t i = 0; i < ids.size(); ++i)
      std::memcpy(all.bytes().data() + i * static_cast<std::size_t>(width),
                  ids[i].data(),
                  std::min(ids[i].size(), static_cast<std::size_t>(width)));
    set.tensors.emplace("id", std::move(all));
  }

  void tell(const Log& log) const {
    std::int64_t rows = 0, windows = 0;
    Time first = kNever, last = -kNever;
    for (const SeriesRows& series : table_.series) {
      if (series.rows() == 0) continue;
      rows += static_cast<std::int64_t>(series.rows());
      first = std::min(first, series.times.front());
      last = std::max(last, series.times.back());
    }
    for (const WindowRow& place : places_) windows += place.count;
    if (rows == 0) return;
    std::string text = counted(rows, "row") + " of " +
                       std::to_string(table_.series.size()) + " series, " +
                       time_text(first, are_numbers()) + " to " +
                       time_text(last, are_numbers());
    if (!settings_.time.empty()) text += ", " + steps_;
    if (table_.empty_steps > 0)
      text += ", " + counted(table_.empty_steps, "step") + " without rows";
    if (filled_ > 0) text += ", " + counted(filled_, "number") + " filled in";
    text += ": " + counted(windows, "window");
    if (lacking_ > 0 && windows > 0)
      text += "; " + std::to_string(lacking_) + " more" + lacking_words();
    log(Level::kInfo, text);
  }

  RecipeOptions options_;
  SeriesSettings settings_;
  RowMaker maker_;
  bool has_ids_;  // predictions are joined to rows by them
  SeriesTable table_;
  data::Metadata metadata_;
  std::map<std::string, data::Field> plain_;
  std::string steps_;  // that rows have, in words
  Json naive_;         // mean errors of each target
  std::vector<WindowRow> places_;
  std::size_t at_ = 0;  // of places_
  std::int64_t windows_ = 0, given_ = 0, filled_ = 0;
  std::int64_t lacking_ = 0;  // windows left out for numbers that are missing
};

}  // namespace

std::unique_ptr<Reader> open_series(const Recipe& recipe, const Inputs& inputs,
                                    const RecipeOptions& options,
                                    BadRecords& bad) {
  return std::make_unique<SeriesReading>(recipe, inputs, options, bad);
}

}  // namespace dl::vectorize
