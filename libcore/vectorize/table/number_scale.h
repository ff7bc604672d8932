// Scales of the vectorizer number: what a fit finds of the numbers of a column,
// and what becomes of each by it.
//
// As scikit-learn's StandardScaler, MinMaxScaler, RobustScaler and
// QuantileTransformer have them.

#ifndef DL_LIBCORE_VECTORIZE_TABLE_NUMBER_SCALE_H_
#define DL_LIBCORE_VECTORIZE_TABLE_NUMBER_SCALE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/vectorize/learner.h"
#include "libcore/vectorize/recipe/keys.h"
#include "libcore/vectorize/table/number_counts.h"

namespace dl::vectorize {

enum class ScaleWay { kNone, kStandardize, kMinmax, kRobust, kQuantile };
inline constexpr std::string_view kScaleWords[] = {
    "none", "standardize", "minmax", "robust", "quantile"};

inline constexpr std::string_view kDistributionWords[] = {"uniform", "normal"};

inline constexpr RecipeKey kScaleKeys[] = {
    {.name = "scale",
     .kind = KeyKind::kOneOf,
     .doc = "With the others of the column, as a fit finds them, behind *clip* "
            "and *log*: *standardize*, (x - mean) / deviation; *minmax*, "
            "(x - least) / (greatest - least); *robust*, (x - median) / "
            "(third - first quartile); *quantile*, the share of numbers below "
            "x, 0 to 1. *none*, the default, leaves it to the normalizer of "
            "*dl-master*(1). Missing numbers do not count.",
     .words = kScaleWords},
    {.name = "quantiles",
     .kind = KeyKind::kInteger,
     .doc = "With *quantile*: the number of quantiles to learn, 1000 by "
            "default, or as many as there are numbers.",
     .low = 2,
     .high = 10000},
    {.name = "distribution",
     .kind = KeyKind::kOneOf,
     .doc = "With *quantile*: *uniform*, the default, the share; *normal*, the "
            "number below which a standard normal variable lies with that "
            "probability, between 5.2 below and above 0.",
     .words = kDistributionWords},
    {.name = "centers",
     .kind = KeyKind::kNumbers,
     .doc = "The numbers that a fit found to subtract, one for each column."},
    {.name = "scales",
     .kind = KeyKind::kNumbers,
     .doc = "The numbers that it found to divide by."},
    {.name = "points",
     .kind = KeyKind::kNumbers,
     .doc = "The quantiles that it found, as many for each column."}};

// A scale that was learnt.
class NumberScale {
 public:
  // Throws Error: kConfig, it is to be learnt first, or was for others.
  NumberScale(const RecipeSettings& settings, std::size_t columns);
  static bool is_to_be_learnt(const RecipeSettings& settings);

  double operator()(std::size_t column, double value) const;

 private:
  double share(std::span<const double> points, double value) const;

  std::vector<double> centers_, scales_, points_;
  std::size_t columns_;
  bool is_normal_ = false;  // the distribution that quantiles are brought to
};

class ScaleLearner {
 public:
  ScaleLearner(const RecipeSettings& settings, std::size_t columns);

  bool any() const { return way_ != ScaleWay::kNone; }
  void see(std::size_t column, double value);
  Json state() const;
  void merge(const JsonView& state, std::int64_t records);
  // Throws Error: kData, a column has no values.
  void finish(const std::vector<std::string>& columns, Json& given) const;

 private:
  void find_quantiles(const std::vector<std::string>& columns,
                      Json& given) const;

  ScaleWay way_;
  std::size_t quantiles_;
  std::vector<Moments> moments_;
  std::vector<NumberCounts> counts_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_NUMBER_SCALE_H_
