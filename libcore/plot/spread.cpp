// Quantiles of histograms.

#include "libcore/plot/spread.h"

#include <algorithm>
#include <bit>

#include "libcore/plot/values.h"

namespace dl::plot {

double Spread::quantile(double share) const {
  double all = 0, sum = 0;
  for (const double count : counts) all += count;
  if (!(all > 0)) return kNone;
  const double width = (high - low) / static_cast<double>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (sum + counts[i] >= share * all && counts[i] > 0)
      return low +
             width * (static_cast<double>(i) + (share * all - sum) / counts[i]);
    sum += counts[i];
  }
  return high;
}

std::pair<double, double> edges_of(int bin) {
  const auto at = [](int edge) {
    return static_cast<double>(
        std::bit_cast<float>(static_cast<std::uint32_t>(edge) << 22U));
  };
  return bin > 0 ? std::pair(at(bin - 1), at(bin))
                 : std::pair(-at(-bin), -at(std::max(0, -bin - 1)));
}

double Bins::count() const {
  double all = 0;
  for (const auto& [bin, count] : counts) all += count;
  return all;
}

double Bins::share_of_zeros() const {
  double zeros = 0;
  for (const auto& [bin, count] : counts)
    if (bin == 1 || bin == -1) zeros += count;
  return zeros / count();
}

double Bins::quantile(double share) const {
  const double all = count();
  if (!(all > 0)) return kNone;
  double sum = 0;
  for (const auto& [bin, count] : counts) {
    if (count > 0 && sum + count >= share * all) {
      const auto [from, to] = edges_of(bin);
      const double least = std::max(from, low), most = std::min(to, high);
      return least + (most - least) * (share * all - sum) / count;
    }
    sum += count;
  }
  return high;
}

}  // namespace dl::plot
