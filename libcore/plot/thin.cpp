// Thinning and smoothing of curves.

#include "libcore/plot/thin.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dl::plot {

namespace {

// Damaged histories go back; pages stay bounded all the same.
Curve sorted_by_x(const Curve& curve) {
  std::vector<std::pair<double, double>> points;
  points.reserve(curve.x.size());
  for (std::size_t i = 0; i < curve.x.size(); ++i)
    points.emplace_back(curve.x[i], curve.y[i]);
  std::ranges::stable_sort(points, {}, &std::pair<double, double>::first);
  Curve sorted;
  for (const auto& [x, y] : points) {
    sorted.x.push_back(x);
    sorted.y.push_back(y);
  }
  return sorted;
}

}  // namespace

Curve thinned(const std::vector<double>& x, const std::vector<double>& y,
              std::size_t most) {
  Curve all;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    all.x.push_back(x[i]);
    all.y.push_back(y[i]);
  }
  if (all.x.size() <= most) return all;
  if (!std::ranges::is_sorted(all.x)) all = sorted_by_x(all);
  Curve thin;
  const double begin = all.x.front();
  const double width = (all.x.back() - begin) / static_cast<double>(most);
  const auto slot_of = [&](double at) {
    return width > 0 ? std::min(static_cast<double>(most) - 1,
                                std::floor((at - begin) / width))
                     : 0;
  };
  for (std::size_t i = 0; i < all.x.size();) {
    const double slot = slot_of(all.x[i]);
    double sum_x = 0, sum_y = 0, low = all.y[i], high = all.y[i], n = 0;
    for (; i < all.x.size() && slot_of(all.x[i]) == slot; ++i, ++n) {
      sum_x += all.x[i];
      sum_y += all.y[i];
      low = std::min(low, all.y[i]);
      high = std::max(high, all.y[i]);
    }
    thin.x.push_back(sum_x / n);
    thin.y.push_back(sum_y / n);
    thin.low.push_back(low);
    thin.high.push_back(high);
  }
  return thin;
}

std::vector<double> smoothed(const std::vector<double>& y, double points) {
  const double keep = 1 - 1 / std::max(1.0, points);
  std::vector<double> all;
  double sum = 0, weight = 0;
  for (const double value : y) {
    if (std::isfinite(value)) {
      sum = keep * sum + value;
      weight = keep * weight + 1;
    }
    all.push_back(sum / weight);
  }
  return all;
}

}  // namespace dl::plot
