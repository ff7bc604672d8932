#include "libcore/vectorize/table/number_scale.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::vectorize {
namespace {

constexpr std::int64_t kUsualQuantiles = 1000;

ScaleWay way_of(const RecipeSettings& settings) {
  return settings.has("scale")
             ? static_cast<ScaleWay>(settings.word("scale", kScaleWords))
             : ScaleWay::kNone;
}

// A column that is nearly constant is not divided.
double divisor(double scale) {
  constexpr double kLeast = 10 * std::numeric_limits<double>::epsilon();
  return scale < kLeast ? 1 : scale;
}

// Keys of quantiles beside another scale.
void check_scale_keys(const RecipeSettings& settings, ScaleWay way) {
  for (const char* key : {"quantiles", "distribution"})
    if (settings.has(key) && way != ScaleWay::kQuantile)
      bad_config(std::string(key) + " is for \"scale\": \"quantile\"");
}

// The distance from the ends, of numbers and of shares, within which a share is
// that of an end, as scikit-learn has it.
constexpr double kEnd = 1e-7;

// The quantile of the standard normal distribution.
double normal_quantile(double share) {
  constexpr double kLeast = kEnd - std::numeric_limits<double>::epsilon();
  using Policy = boost::math::policies::policy<
      boost::math::policies::promote_double<false>>;
  return -std::numbers::sqrt2 *
         boost::math::erfc_inv(2 * std::clamp(share, kLeast, 1 - kLeast),
                               Policy());
}

void refuse_nothing(std::int64_t count, const std::string& column) {
  if (count == 0)
    bad_data("column " + in_quotes(column) + " has no values to learn from");
}

}  // namespace

bool NumberScale::is_to_be_learnt(const RecipeSettings& settings) {
  const ScaleWay way = way_of(settings);
  if (way == ScaleWay::kNone) return false;
  return !settings.has(way == ScaleWay::kQuantile ? "points" : "centers");
}

NumberScale::NumberScale(const RecipeSettings& settings, std::size_t columns)
    : columns_(columns) {
  const ScaleWay way = way_of(settings);
  const bool is_linear = way != ScaleWay::kNone && way != ScaleWay::kQuantile;
  check_scale_keys(settings, way);
  is_normal_ =
      settings.has("distribution") && settings.text("distribution") == "normal";
  if (settings.has("points") && way != ScaleWay::kQuantile)
    bad_config("points is for \"scale\": \"quantile\"");
  if ((settings.has("centers") || settings.has("scales")) && !is_linear)
    bad_config(
        "centers and scales are for \"scale\": \"standardize\", \"minmax\" or "
        "\"robust\"");
  if (way == ScaleWay::kNone) return;
  if (is_to_be_learnt(settings) || (is_linear && !settings.has("scales")))
    bad_config("\"scale\": \"" + settings.text("scale") +
               "\" is to be learnt: dl-preprocess fit RECIPE DATA");
  if (is_linear) {
    centers_ = settings.numbers("centers");
    scales_ = settings.numbers("scales");
    if (centers_.size() != columns || scales_.size() != columns ||
        std::ranges::count(scales_, 0) > 0)
      bad_config("centers and scales want a number for each column, " +
                 std::to_string(columns) + ", and scales none that is 0");
    return;
  }
  points_ = settings.numbers("points");
  const std::size_t count = points_.size() / columns;
  bool ascend = count > 0 && points_.size() % columns == 0;
  for (std::size_t i = 0; ascend && i < columns; ++i)
    ascend =
        std::ranges::is_sorted(std::span(points_).subspan(i * count, count));
  if (!ascend)
    bad_config("points want as many numbers for each column, that ascend");
}

double NumberScale::operator()(std::size_t column, double value) const {
  if (!centers_.empty()) return (value - centers_[column]) / scales_[column];
  if (points_.empty() || std::isnan(value)) return value;
  const std::size_t count = points_.size() / columns_;
  const double found =
      share(std::span(points_).subspan(column * count, count), value);
  return is_normal_ ? normal_quantile(found) : found;
}

// The place on the line between the quantiles, in the middle of those that are
// the same; the ends count as 0 and 1.
double NumberScale::share(std::span<const double> points, double value) const {
  const double end = is_normal_ ? kEnd : 0;
  if (value <= points.front() || value - end < points.front()) return 0;
  if (value >= points.back() || value + end > points.back()) return 1;
  const double last = static_cast<double>(points.size() - 1);
  const auto first = std::ranges::lower_bound(points, value);
  const auto behind = std::ranges::upper_bound(points, value);
  const double at = static_cast<double>(first - points.begin());
  if (first != behind)
    return (at + static_cast<double>(behind - points.begin() - 1)) / 2 / last;
  const double low = *(first - 1), high = *first;
  return (at - 1 + (value - low) / (high - low)) / last;
}

ScaleLearner::ScaleLearner(const RecipeSettings& settings, std::size_t columns)
    : way_(way_of(settings)),
      quantiles_(static_cast<std::size_t>(settings.has("quantiles")
                                              ? settings.integer("quantiles")
                                              : kUsualQuantiles)),
      moments_(way_ == ScaleWay::kStandardize ? columns : 0),
      counts_(way_ > ScaleWay::kStandardize ? columns : 0) {
  check_scale_keys(settings, way_);
  // By a scale of its own that is there, the fills would be learnt alone.
  for (const char* key : {"centers", "scales", "points"})
    if (any() && settings.has(key))
      bad_config(std::string("fills and ") + key +
                 " are learnt together: give both or none");
  if (any() && settings.has("fills"))
    bad_config("fills and scales are learnt together: give both or none");
}

void ScaleLearner::see(std::size_t column, double value) {
  if (!moments_.empty()) moments_[column].add(value);
  if (!counts_.empty()) counts_[column].add(value);
}

Json ScaleLearner::state() const {
  Json all = Json::array();
  for (const Moments& own : moments_) all.push_back(own.state());
  for (const NumberCounts& own : counts_) all.push_back(own.state());
  return all;
}

void ScaleLearner::merge(const JsonView& state, std::int64_t records) {
  if (state.size() != moments_.size() + counts_.size())
    state.fail("a state for each column");
  for (std::size_t i = 0; i < moments_.size(); ++i)
    moments_[i].merge(state.at(i), records);
  for (std::size_t i = 0; i < counts_.size(); ++i)
    counts_[i].merge(state.at(i), records);
}

void ScaleLearner::finish(const std::vector<std::string>& columns,
                          Json& given) const {
  if (!any()) return;
  if (way_ == ScaleWay::kQuantile) return find_quantiles(columns, given);
  Json centers = Json::array(), scales = Json::array();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    refuse_nothing(moments_.empty() ? counts_[i].count() : moments_[i].count(),
                   columns[i]);
    if (way_ == ScaleWay::kStandardize) {
      centers.push_back(moments_[i].mean());
      scales.push_back(divisor(std::sqrt(moments_[i].variance())));
    } else if (way_ == ScaleWay::kMinmax) {
      centers.push_back(counts_[i].min());
      scales.push_back(divisor(counts_[i].max() - counts_[i].min()));
    } else {
      constexpr double kShares[] = {0.25, 0.5, 0.75};
      const std::vector<double> found = counts_[i].quantiles(kShares);
      centers.push_back(found[1]);
      scales.push_back(divisor(found[2] - found[0]));
    }
  }
  given["centers"] = centers;
  given["scales"] = scales;
}

// As many for each column, as many as the fewest numbers of one.
void ScaleLearner::find_quantiles(const std::vector<std::string>& columns,
                                  Json& given) const {
  std::size_t most = quantiles_;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    refuse_nothing(counts_[i].count(), columns[i]);
    most = std::min(most, static_cast<std::size_t>(counts_[i].count()));
  }
  const std::vector<double> shares = even_shares(most - 1);
  Json points = Json::array();
  for (const NumberCounts& own : counts_)
    for (const double point : own.quantiles(shares)) points.push_back(point);
  given["points"] = points;
}

}  // namespace dl::vectorize
