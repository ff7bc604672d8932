// Thinning of long curves: as many points as a picture can show, with the
// lowest and highest of all that one stands for.

#ifndef DL_LIBCORE_PLOT_THIN_H_
#define DL_LIBCORE_PLOT_THIN_H_

#include <cstddef>
#include <vector>

namespace dl::plot {

struct Curve {
  std::vector<double> x, y;       // x does not fall
  std::vector<double> low, high;  // of each point; or empty
};

// Points that are not finite are left out; those whose x falls are sorted if
// there are more than `most`.  Up to `most` points stay as they
// are; more become means over equally wide parts of x.
Curve thinned(const std::vector<double>& x, const std::vector<double>& y,
              std::size_t most = 300);

// Exponential mean of so many points about, without a bias at the start.
std::vector<double> smoothed(const std::vector<double>& y, double points);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_THIN_H_
