#include "libcore/vectorize/series/baseline.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dl::vectorize {
namespace {

// They go along in metadata.
constexpr std::int64_t kMostOutputs = 10'000;

struct MeanErrors {
  double absolute = 0, squared = 0, relative = 0;
  std::int64_t count = 0;

  void add(double forecast, double target) {
    const double error = std::abs(forecast - target);
    if (std::isnan(error)) return;
    const double both = std::abs(forecast) + std::abs(target);
    absolute += error;
    squared += error * error;
    relative += both > 0 ? 200 * error / both : 0;
    ++count;
  }
  void put_into(Json& numbers) const {
    for (const double sum : {absolute, squared, relative})
      numbers.push_back(count == 0 ? -1 : sum / static_cast<double>(count));
  }
};

}  // namespace

struct Baseline::Sums {
  MeanErrors naive, seasonal;
  double target = 0, square = 0;
  std::int64_t count = 0;
};

Baseline::Baseline(const SeriesTable& table, const RowMaker& maker,
                   const SeriesSettings& settings)
    : settings_(settings), width_(maker.targets().size()) {
  const auto outputs = static_cast<std::int64_t>(width_) * settings.horizon;
  if (outputs == 0 || outputs > kMostOutputs ||
      (settings.season <= settings.window && settings.difference == 0))
    return;
  for (const SeriesRows& series : table.series) {
    LongArray<float> own;
    own.reserve(series.rows() * width_);
    for (std::size_t i = 0; i < series.rows(); ++i)
      for (const std::size_t column : maker.targets())
        own.push_back(series.row(i, maker.width())[column]);
    targets_.push_back(std::move(own));
  }
}

void Baseline::add(const WindowRow& place, std::vector<Sums>& all) const {
  const LongArray<float>& rows = targets_[place.series];
  const auto window = static_cast<std::size_t>(settings_.window);
  const auto season = static_cast<std::size_t>(settings_.season);
  for (std::int64_t i = 0; i < place.count; ++i) {
    const std::size_t last = place.first +
                             static_cast<std::size_t>(i * settings_.stride) +
                             window - 1;
    for (std::size_t j = 0; j < all.size(); ++j) {
      const std::size_t target = j % width_;
      const std::size_t ahead =
          static_cast<std::size_t>(settings_.gap) + 1 + j / width_;
      const std::size_t back = (ahead + season - 1) / season * season;
      const double value = rows[(last + ahead) * width_ + target];
      Sums& sums = all[j];
      sums.naive.add(rows[last * width_ + target], value);
      if (last + ahead >= back)
        sums.seasonal.add(rows[(last + ahead - back) * width_ + target], value);
      sums.target += value;
      sums.square += value * value;
      ++sums.count;
    }
  }
}

Json Baseline::numbers(const std::vector<WindowRow>& places) const {
  std::vector<Sums> all(static_cast<std::size_t>(settings_.horizon) * width_);
  for (const WindowRow& place : places) add(place, all);
  Json numbers = Json::array();
  for (const Sums& sums : all) {
    sums.naive.put_into(numbers);
    sums.seasonal.put_into(numbers);
    const auto n = static_cast<double>(std::max<std::int64_t>(sums.count, 1));
    numbers.push_back(sums.target / n);
    numbers.push_back(sums.square / n);
  }
  return numbers;
}

}  // namespace dl::vectorize
