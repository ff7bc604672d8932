#include "libcore/cluster/worker/slowest.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace dl::cluster {

// The slowest of w is the i-th shortest with probability (i / n)^w - ((i - 1) /
// n)^w.
Slowest slowest_of(std::span<const double> times) {
  std::vector<double> sorted(times.begin(), times.end());
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  Slowest slowest{};
  for (std::size_t k = 0; k < slowest.size(); ++k) {
    const auto workers = static_cast<double>(std::size_t{1} << k);
    double before = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const double upto = std::pow(static_cast<double>(i + 1) / n, workers);
      slowest[k] += sorted[i] * (upto - before);
      before = upto;
    }
  }
  return slowest;
}

Slowest slowest_round_of(std::span<const double> times, std::int64_t count) {
  const auto wanted = static_cast<std::size_t>(count);
  const std::size_t length =
      std::clamp<std::size_t>(times.size() / 2, 1, wanted);
  std::vector<double> rounds;
  for (std::size_t first = 0; first + length <= times.size(); ++first) {
    double sum = 0;
    for (const double time : times.subspan(first, length)) sum += time;
    rounds.push_back(sum * static_cast<double>(wanted) /
                     static_cast<double>(length));
  }
  return slowest_of(rounds);
}

}  // namespace dl::cluster
