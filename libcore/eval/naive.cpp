// The naive forecasts of windows of series, by the recipe that made these.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "libcore/base/error.h"
#include "libcore/eval/forecast.h"
#include "libcore/eval/text.h"

namespace dl::eval {
namespace {

// The settings of the recipe's series that matter here.
struct SeriesOf {
  std::int64_t horizon = 0, gap = 0, season = 1, difference = 0;
  std::vector<std::string> targets;
  std::vector<double> naive;
};

std::optional<SeriesOf> series_of(const data::Metadata& known) try {
  const Json& recipe = known.recipe;
  if (!recipe.is_object() || !recipe.contains("series") ||
      !recipe.contains("tensors") || !recipe["tensors"].contains("labels"))
    return std::nullopt;
  const Json& labels = recipe["tensors"]["labels"];
  if (!labels.is_object() || labels.value("type", Json()) != "number")
    return std::nullopt;
  const Json& series = recipe["series"];
  SeriesOf of;
  of.horizon = series.value("horizon", std::int64_t{1});
  of.gap = series.value("gap", std::int64_t{0});
  of.season = series.value("season", std::int64_t{1});
  of.difference = series.value("difference", std::int64_t{0});
  of.naive = series.value("naive", std::vector<double>{});
  of.targets = labels.at("from").get<std::vector<std::string>>();
  if (of.horizon < 1 || of.gap < 0 || of.season < 1 || of.difference < 0 ||
      of.targets.empty())
    return std::nullopt;
  return of;
} catch (const Json::exception&) {
  bad_data("the model's recipe is damaged");
}

// Features of the window, and where a target is among their columns.
struct History {
  const tensor::Tensor* features = nullptr;
  std::vector<std::string> columns;
  std::optional<std::size_t> place(const std::string& target) const {
    const auto found = std::ranges::find(columns, target);
    if (found == columns.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns.begin());
  }
};

History history_of(const data::Metadata& known, const data::DataSet& set) {
  for (const char* part : {"", "past"}) {
    const std::string name =
        *part == '\0' ? "features" : std::string("features/") + part;
    const tensor::Tensor* features = set.find(name);
    if (features == nullptr || features->shape().rank() != 3 ||
        features->dtype() != tensor::DType::kF32)
      continue;
    const auto columns = known.part(part).columns;
    if (std::cmp_equal(columns.size(), features->shape()[2]))
      return {features, columns};
  }
  return {};
}

// Numbers of a window that are differences from `by` rows before.
class WindowOf {
 public:
  WindowOf(std::span<const float> values, std::size_t columns,
           std::size_t column, std::int64_t by)
      : values_(values), columns_(columns), column_(column), by_(by) {}

  float at(std::int64_t row) const {
    return values_[static_cast<std::size_t>(row) * columns_ + column_];
  }
  // The number of row a less that of b, as far as differences tell it.
  float between(std::int64_t a, std::int64_t b) const {
    constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
    if (a == b) return 0;
    if ((a - b) % by_ != 0 || std::min(a, b) < 0) return kNone;
    double sum = 0;
    for (std::int64_t row = std::max(a, b); row > std::min(a, b); row -= by_)
      sum += at(row);
    return static_cast<float>(a > b ? sum : -sum);
  }

 private:
  std::span<const float> values_;
  std::size_t columns_, column_;
  std::int64_t by_;
};

}  // namespace

bool is_forecast(const data::Metadata& known) {
  return series_of(known).has_value();
}

bool predicts_differences(const data::Metadata& known) {
  const auto series = series_of(known);
  return series && series->difference > 0;
}

void take_baseline(Forecast& forecast, const data::Metadata& stream) try {
  std::vector<double> numbers;
  if (series_of(stream))
    numbers = stream.recipe["series"].value("baseline", std::vector<double>{});
  forecast.set_baseline(std::move(numbers));
} catch (const Json::exception&) {
  bad_data("the recipe of the stream is damaged");
}

std::string forecast_settings(const data::Metadata& known,
                              std::int64_t outputs) {
  const auto series = series_of(known);
  if (!series)
    bad_usage(
        "evaluation 'forecast' is for models of series of numbers, as "
        "dl-preprocess series makes them");
  std::string text = "season=" + std::to_string(series->season);
  if (series->difference > 0)
    text += ",difference=" + std::to_string(series->difference);
  if (series->difference > 0 || series->targets.size() > 1)
    text += ",targets=" + std::to_string(series->targets.size());
  for (std::int64_t j = 0; j < outputs && !series->naive.empty(); ++j) {
    const double scale =
        series->naive[static_cast<std::size_t>(j) % series->naive.size()];
    if (scale > 0)
      text += ",scale_" + std::to_string(j) + "=" + dump_json(Json(scale));
  }
  return text;
}

void compare_naive(Forecast& forecast, const data::Metadata& known,
                   const data::DataSet& set, std::int64_t outputs) {
  const auto series = series_of(known);
  const History history = history_of(known, set);
  const auto n = static_cast<std::size_t>(set.examples()),
             width = static_cast<std::size_t>(outputs);
  std::vector<float> last(n * width, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> seasonal = last;
  if (!series || history.features == nullptr)
    return forecast.compare_with(std::move(last), std::move(seasonal));
  const std::int64_t window = history.features->shape()[1];
  const std::size_t columns = history.columns.size();
  const auto values = history.features->as<float>();
  for (std::size_t j = 0; j < width; ++j) {
    const auto place =
        history.place(series->targets[j % series->targets.size()]);
    if (!place) continue;
    // Rows from the last of the window to that which is predicted.
    const std::int64_t ahead =
        series->gap + 1 + static_cast<std::int64_t>(j / series->targets.size());
    const auto season_before = [&](std::int64_t rows) {
      const std::int64_t seasons = (rows + series->season - 1) / series->season;
      return window - 1 + rows - seasons * series->season;
    };
    const std::int64_t row = season_before(ahead), by = series->difference;
    const std::size_t size = static_cast<std::size_t>(window) * columns;
    for (std::size_t i = 0; i < n; ++i) {
      const WindowOf own(values.subspan(i * size, size), columns, *place, by);
      float &naive = last[i * width + j], &other = seasonal[i * width + j];
      if (by == 0) {
        naive = own.at(window - 1);
        if (row >= 0) other = own.at(row);
      } else if (ahead > by) {  // from a forecast
        naive = 0;
        other = own.between(row, season_before(ahead - by));
      } else {  // of the last number differences from before it tell nothing
        naive = by == 1 ? 0 : naive;
        other = own.between(row, window - 1 + ahead - by);
      }
    }
  }
  forecast.compare_with(std::move(last), std::move(seasonal));
}

}  // namespace dl::eval
