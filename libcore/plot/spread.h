// Histograms of a layer's numbers, as a history has them.

#ifndef DL_LIBCORE_PLOT_SPREAD_H_
#define DL_LIBCORE_PLOT_SPREAD_H_

#include <utility>
#include <vector>

namespace dl::plot {

// How numbers of a layer are spread; counts: of equal parts from low to high.
struct Spread {
  double norm = 0, mean = 0, low = 0, high = 0;
  std::vector<double> counts;
  // The number below which this share of all numbers is, as the parts tell.
  double quantile(double share) const;
};

// How numbers are spread, by bins of half an octave, see "summary" in
// dl-run(5).
struct Bins {
  double mean = 0, rms = 0, low = 0, high = 0;
  std::vector<std::pair<int, double>> counts;  // bin and count, in order
  bool empty() const noexcept { return counts.empty(); }
  double count() const;
  double share_of_zeros() const;
  // As Spread::quantile().
  double quantile(double share) const;
};
// The numbers from which and up to which a bin goes.
std::pair<double, double> edges_of(int bin);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_SPREAD_H_
