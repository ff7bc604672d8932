// A tree over points of the plane, by which far points are taken together
// (Barnes and Hut 1986).

#ifndef DL_LIBCORE_PLOT_EMBEDDING_QUAD_TREE_H_
#define DL_LIBCORE_PLOT_EMBEDDING_QUAD_TREE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/plot/embedding/pca.h"

namespace dl::plot {

class QuadTree {
 public:
  // All are finite.
  void build(std::span<const Place> points);

  // Calls take(mass, dx, dy, squared distance) for parts of the points, seen
  // from one: a part is a point, or a cell whose width is below `theta` times
  // its distance.  The point itself is no part.
  template <typename Take>
  void visit(const Place& from, double theta, const Take& take) const {
    std::array<std::int32_t, kMostOpen> open;
    std::size_t count = 0;
    open[count++] = 0;
    while (count > 0) {
      const Cell& cell = cells_[static_cast<std::size_t>(open[--count])];
      const double dx = from[0] - cell.x, dy = from[1] - cell.y;
      const double distance = dx * dx + dy * dy;
      const bool is_leaf = cell.first < 0;
      if (is_leaf || cell.width * cell.width < theta * theta * distance) {
        const double mass = cell.mass - (distance == 0 ? 1 : 0);
        if (mass > 0) take(mass, dx, dy, distance);
        continue;
      }
      for (std::int32_t child = cell.first; child < cell.first + 4; ++child)
        if (cells_[static_cast<std::size_t>(child)].mass > 0)
          open[count++] = child;
    }
  }

 private:
  static constexpr int kDeepest = 40;
  static constexpr std::size_t kMostOpen = 4 * kDeepest;
  struct Cell {
    double x = 0, y = 0;  // mean of its points
    double width = 0, mass = 0;
    std::int32_t first = -1;  // of its four parts; -1: it is a leaf
  };
  void split(std::size_t cell, std::span<std::uint32_t> members, double left,
             double top, double width, int depth);

  std::span<const Place> points_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> members_;
};

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_EMBEDDING_QUAD_TREE_H_
