#include "libcore/plot/embedding/quad_tree.h"

#include <algorithm>
#include <numeric>

namespace dl::plot {

void QuadTree::build(std::span<const Place> points) {
  points_ = points;
  cells_.clear();
  cells_.emplace_back();
  members_.resize(points.size());
  std::iota(members_.begin(), members_.end(), 0U);
  if (points.empty()) return;
  Place low = points[0], high = points[0];
  for (const Place& point : points)
    for (std::size_t k = 0; k < 2; ++k) {
      low[k] = std::min(low[k], point[k]);
      high[k] = std::max(high[k], point[k]);
    }
  const double width = std::max(high[0] - low[0], high[1] - low[1]);
  split(0, members_, low[0], low[1], width, 0);
}

void QuadTree::split(std::size_t cell, std::span<std::uint32_t> members,
                     double left, double top, double width, int depth) {
  double x = 0, y = 0;
  for (const std::uint32_t i : members) {
    x += points_[i][0];
    y += points_[i][1];
  }
  const auto mass = static_cast<double>(members.size());
  cells_[cell] = {x / mass, y / mass, width, mass, -1};
  if (members.size() == 1)
    cells_[cell] = {points_[members[0]][0], points_[members[0]][1], width, 1,
                    -1};
  if (members.size() < 2 || depth == kDeepest - 1 || width <= 0) return;
  const double middle_x = left + width / 2, middle_y = top + width / 2;
  const auto below = [&](std::size_t k, double middle) {
    return [&, k, middle](std::uint32_t i) { return points_[i][k] < middle; };
  };
  // In place, and in an order that follows from the points' alone.
  const auto half =
      std::stable_partition(members.begin(), members.end(), below(1, middle_y));
  const auto first_end =
      std::stable_partition(members.begin(), half, below(0, middle_x));
  const auto second_end =
      std::stable_partition(half, members.end(), below(0, middle_x));
  const std::array<std::span<std::uint32_t>, 4> parts = {
      std::span(members.begin(), first_end), std::span(first_end, half),
      std::span(half, second_end), std::span(second_end, members.end())};
  const auto first = static_cast<std::int32_t>(cells_.size());
  cells_[cell].first = first;
  cells_.resize(cells_.size() + 4);
  for (std::size_t k = 0; k < 4; ++k)
    if (!parts[k].empty())
      split(static_cast<std::size_t>(first) + k, parts[k],
            k % 2 == 0 ? left : middle_x, k < 2 ? top : middle_y, width / 2,
            depth + 1);
}

}  // namespace dl::plot
