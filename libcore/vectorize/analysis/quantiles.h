// Quantiles of any number of values in bounded memory: exact up to kExact
// values, then of a sample whose error is known.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_QUANTILES_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_QUANTILES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libcore/base/json.h"

namespace dl::vectorize {

// Levels of values, each of which stands for twice as many as one of the level
// below: a full level is sorted, and every other value of it goes up.
class Quantiles {
 public:
  static constexpr std::size_t kExact = 1 << 16;
  // Values of a level from then on.
  static constexpr std::size_t kMostOfLevel = 1 << 14;

  // times: how many such values.
  void add(double value, std::int64_t times = 1);
  // Adds the values of the next rows.
  void merge(const Quantiles& next);
  // Shares of the values up to each bound, of bounds that rise; zeros without
  // values.
  std::vector<double> shares_up_to(std::span<const double> bounds) const;
  // The value below which a share of 0..1 lies, between two neighbors in
  // proportion, as NumPy does it; NaN without values.
  double at(double share) const { return at(std::span(&share, 1))[0]; }
  std::vector<double> at(std::span<const double> shares) const;
  // How far the rank of at() may be off, as a share; 0: it is exact.
  double error() const;
  std::int64_t count() const { return count_; }

  // With at most kKept values, to be saved.
  static constexpr std::size_t kKept = 1 << 12;
  Json state() const;
  // Throws Error: kData, no state() is like this.
  static Quantiles of_state(const JsonView& json);

 private:
  void compact(std::size_t level);
  void compact_full();
  // Each value with how many it stands for, sorted.
  std::vector<std::pair<double, std::int64_t>> weighted() const;
  std::vector<std::vector<double>> levels_{1};
  std::vector<bool> odd_{false};  // which half of a level goes up next
  std::int64_t count_ = 0;
  std::int64_t moved_ = 0;  // how far a rank may be off
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_QUANTILES_H_
