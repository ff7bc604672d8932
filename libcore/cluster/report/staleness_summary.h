// Summary of staleness: counts, for a mean, a median and the largest.

#ifndef DL_LIBCORE_CLUSTER_REPORT_STALENESS_SUMMARY_H_
#define DL_LIBCORE_CLUSTER_REPORT_STALENESS_SUMMARY_H_

#include <array>
#include <cstdint>

#include "libcore/base/json.h"

namespace dl::cluster {

class StalenessSummary {
 public:
  void add(std::uint64_t staleness);
  void add(const StalenessSummary& more);

  std::uint64_t updates() const { return updates_; }
  double mean() const;  // mean; 0 without updates
  // The lower of two middle values; at most kCounted.
  std::uint64_t median() const;
  std::uint64_t max() const { return max_; }
  Json to_json() const;  // keys updates, mean, median, max

 private:
  static constexpr std::size_t kCounted = 4096;

  // Counts by staleness; the last: or more.
  std::array<std::uint64_t, kCounted + 1> counts_{};
  std::uint64_t updates_ = 0, max_ = 0;
  double sum_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_REPORT_STALENESS_SUMMARY_H_
