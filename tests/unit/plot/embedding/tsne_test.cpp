// Tests of libcore/plot/embedding.

#include "libcore/plot/embedding/tsne.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/base/philox.h"
#include "libcore/plot/embedding/quad_tree.h"

namespace dl::plot::tsne_test {
namespace {

// Three clouds in so many dimensions, one after the other.
PointSet clouds(std::size_t each, std::size_t dimensions) {
  Philox random(7, 0);
  PointSet points{3 * each, dimensions, {}};
  for (std::size_t i = 0; i < points.count; ++i)
    for (std::size_t k = 0; k < dimensions; ++k)
      points.values.push_back(random.normal() + (k == i / each ? 12 : 0));
  return points;
}

double squared(const Place& a, const Place& b) {
  return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]);
}

TEST_CASE("principal components are those of the larger spread") {
  const PointSet line{4, 2, {0, 0, 1, 2, 2, 4, 3, 6.1}};
  const Components all = principal_components(line);
  CHECK(all.shares[0] > 0.99);
  CHECK(all.shares[0] + all.shares[1] == Approx(1));
  CHECK(all.places[3][0] - all.places[0][0] == Approx(std::hypot(3, 6.1)));
  // More coordinates than points: by the other matrix, to the same places.
  PointSet wide{4, 6, {}};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 6; ++k)
      wide.values.push_back(k < 2 ? line.at(i)[k] : 5);
  const Components same = principal_components(wide);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(std::abs(same.places[i][0]) ==
          Approx(std::abs(all.places[i][0])).margin(1e-9));
}

TEST_CASE("a tree of theta 0 gives every other point") {
  Philox random(3, 0);
  std::vector<Place> points;
  for (int i = 0; i < 200; ++i)
    points.push_back({random.normal(), random.normal()});
  points.push_back(points[5]);  // one twice
  QuadTree tree;
  tree.build(points);
  for (const std::size_t from : {std::size_t{0}, std::size_t{5}}) {
    double mass = 0, sum = 0, want = 0;
    tree.visit(points[from], 0, [&](double m, double, double, double distance) {
      mass += m;
      sum += m / (1 + distance);
    });
    for (std::size_t j = 0; j < points.size(); ++j)
      if (j != from) want += 1 / (1 + squared(points[from], points[j]));
    CHECK(mass == Approx(static_cast<double>(points.size() - 1)));
    CHECK(sum == Approx(want));
    double near = 0;
    tree.visit(points[from], 0.5,
               [&](double m, double, double, double distance) {
                 near += m / (1 + distance);
               });
    CHECK(near == Approx(want).epsilon(0.02));
  }
}

TEST_CASE("t-SNE keeps clouds together, and is the same each time") {
  const PointSet points = clouds(60, 5);
  const Components begin = principal_components(points);
  const std::vector<Place> places = tsne(points, begin);
  CHECK(places == tsne(points, begin));
  std::size_t right = 0;
  for (std::size_t i = 0; i < points.count; ++i) {
    std::size_t nearest = i == 0 ? 1 : 0;
    for (std::size_t j = 0; j < points.count; ++j)
      if (j != i &&
          squared(places[i], places[j]) < squared(places[i], places[nearest]))
        nearest = j;
    right += nearest / 60 == i / 60 ? 1 : 0;
  }
  CHECK(right == points.count);
}

TEST_CASE("few points, and equal ones, have places") {
  for (const std::size_t n : {1U, 2U, 3U, 4U, 9U}) {
    const PointSet points{n, 2, std::vector<double>(2 * n, 1.0)};
    for (const Place& place : tsne(points, principal_components(points)))
      CHECK((std::isfinite(place[0]) && std::isfinite(place[1])));
  }
}

}  // namespace
}  // namespace dl::plot::tsne_test
