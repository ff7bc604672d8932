// How often each number of a column occurs, for its quantiles, in bounded
// memory.
//
// With more than kMost different numbers, all lose bits at their end, as many
// as it takes, so that neighbors become one: a quantile is then off by the
// share error() of itself at most.  The result depends on the numbers alone,
// not on their order.  HdrHistogram (hdrhistogram.org) keeps so many digits
// from the start.

#ifndef DL_LIBCORE_VECTORIZE_TABLE_NUMBER_COUNTS_H_
#define DL_LIBCORE_VECTORIZE_TABLE_NUMBER_COUNTS_H_

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "libcore/base/json.h"

namespace dl::vectorize {

// 0, 1/parts, 2/parts, ..., 1, as numpy.linspace() and percentile() round them,
// so that a quantile that is one of the numbers is that; of 0 parts 0.
std::vector<double> even_shares(std::size_t parts);

class NumberCounts {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 18;

  void add(double value) { add(value, 1); }
  std::int64_t count() const { return count_; }
  double min() const { return min_; }
  double max() const { return max_; }
  // 0: every number is exact.
  double error() const;
  // The number below which so much lies of all that were added, of shares in
  // ascending order, on a line between two of them, as numpy.percentile() has
  // it.
  std::vector<double> quantiles(std::span<const double> shares) const;

  Json state() const;
  // Throws Error: kData, they are no counts of so many records.
  void merge(const JsonView& state, std::int64_t records);

 private:
  void add(double value, std::int64_t times);
  void coarsen();
  double shown(double value) const;

  std::unordered_map<double, std::int64_t> counts_;
  int bits_ = std::numeric_limits<double>::digits;  // of each number
  std::int64_t count_ = 0;
  double min_ = std::numeric_limits<double>::infinity(), max_ = -min_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_NUMBER_COUNTS_H_
