#include "libcore/vectorize/analysis/quantiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dl::vectorize {

void Quantiles::add(double value) {
  levels_[0].push_back(value);
  ++count_;
  for (std::size_t i = 0; i < levels_.size() && levels_[i].size() >= kExact;
       ++i)
    if (levels_.size() > 1 || levels_[i].size() > kExact) compact(i);
}

void Quantiles::compact(std::size_t level) {
  if (level + 1 == levels_.size()) {
    levels_.emplace_back();
    odd_.push_back(false);
  }
  std::vector<double> values = std::move(levels_[level]);
  levels_[level].clear();
  std::ranges::sort(values);
  if (values.size() % 2 == 1) {
    levels_[level].push_back(values.back());
    values.pop_back();
  }
  const std::size_t first = odd_[level] ? 1 : 0;
  odd_[level] = !odd_[level];
  for (std::size_t i = first; i < values.size(); i += 2)
    levels_[level + 1].push_back(values[i]);
}

double Quantiles::at(double share) const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  std::vector<std::pair<double, std::int64_t>> values;
  for (std::size_t i = 0; i < levels_.size(); ++i)
    for (const double value : levels_[i])
      values.emplace_back(value, std::int64_t{1} << i);
  std::ranges::sort(values);
  const double rank = share * static_cast<double>(count_ - 1);
  const double below = std::floor(rank);
  const auto value_at = [&](double place) {
    double before = 0;
    for (const auto& [value, times] : values) {
      before += static_cast<double>(times);
      if (before > place) return value;
    }
    return values.back().first;
  };
  const double low = value_at(below), high = value_at(below + 1);
  return low == high ? low : low + (high - low) * (rank - below);
}

double Quantiles::error() const {
  // Each halving of a level moves a rank by the weight of its values at most,
  // and a level is halved once in kExact values of that weight.
  return static_cast<double>(levels_.size() - 1) / static_cast<double>(kExact);
}

}  // namespace dl::vectorize
