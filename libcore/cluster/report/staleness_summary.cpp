// Mean, median and maximum of staleness.

#include "libcore/cluster/report/staleness_summary.h"

#include <algorithm>

namespace dl::cluster {

void StalenessSummary::add(std::uint64_t staleness) {
  ++counts_[std::min<std::uint64_t>(staleness, kCounted)];
  ++updates_;
  max_ = std::max(max_, staleness);
  sum_ += static_cast<double>(staleness);
}

void StalenessSummary::add(const StalenessSummary& more) {
  for (std::size_t i = 0; i < counts_.size(); ++i)
    counts_[i] += more.counts_[i];
  updates_ += more.updates_;
  max_ = std::max(max_, more.max_);
  sum_ += more.sum_;
}

double StalenessSummary::mean() const {
  return updates_ == 0 ? 0 : sum_ / static_cast<double>(updates_);
}

std::uint64_t StalenessSummary::median() const {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    below += counts_[i];
    if (2 * below >= updates_) return i;
  }
  return kCounted;
}

Json StalenessSummary::to_json() const {
  return {{"updates", updates_},
          {"mean", mean()},
          {"median", median()},
          {"max", max_}};
}

}  // namespace dl::cluster
