// Numbers counted by sign and size, so that counts of parts add up to those of
// the whole: histograms of gradients and activations.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_VALUE_COUNTS_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_VALUE_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/json.h"

namespace dl::cluster {

// A bin holds the numbers of a sign whose float32 has the same exponent and the
// same first bit of its fraction: from 1 to 1.5 times a power of two, or from
// 1.5 to 2 times.  Bin n > 0 begins at the float32 whose bits are
// (n - 1) << 22; bin -n has the same with the other sign.
class ValueCounts {
 public:
  // Counts values; of more than kMost every n-th.  Values that are not
  // finite are left out.
  void add(std::span<const float> values);
  void add(const ValueCounts& other);

  bool empty() const noexcept { return count_ == 0; }
  // {"count", "mean", "rms", "low", "high", "bins": [[bin, count], ...]}
  Json to_json() const;
  // Throws Error: kProtocol.
  static ValueCounts from_json(const JsonView& json);

  static constexpr std::size_t kMost = 4096;
  static constexpr int kMostBin = 510;

 private:
  using Bins = std::vector<std::pair<int, std::int64_t>>;  // in order

  void add(const Bins& bins);

  std::int64_t count_ = 0;
  double sum_ = 0, squares_ = 0, low_ = 0, high_ = 0;
  Bins bins_;
};

// Counts for a layer.
struct LayerCounts {
  ValueCounts gradients, activations;
};
using CountsOfLayers = std::map<std::string, LayerCounts>;

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_VALUE_COUNTS_H_
