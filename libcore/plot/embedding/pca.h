// Principal components: the directions in which points differ most.

#ifndef DL_LIBCORE_PLOT_EMBEDDING_PCA_H_
#define DL_LIBCORE_PLOT_EMBEDDING_PCA_H_

#include <array>
#include <cstddef>
#include <vector>

namespace dl::plot {

// Points of so many coordinates each, one after the other.
struct PointSet {
  std::size_t count = 0, dimensions = 0;
  std::vector<double> values;
  const double* at(std::size_t i) const { return &values[i * dimensions]; }
};

using Place = std::array<double, 2>;

struct Components {
  std::vector<Place> places;
  std::array<double, 2> shares{};  // of the variance
};

// The first two components.  The largest coordinate of a direction is positive,
// so that the places follow from the points alone.
Components principal_components(const PointSet& points);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_EMBEDDING_PCA_H_
