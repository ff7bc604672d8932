#include "libcore/plot/embedding/pca.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "libcore/linalg/eigen.h"

namespace dl::plot {
namespace {

std::vector<double> centered(const PointSet& points) {
  std::vector<double> values = points.values;
  for (std::size_t k = 0; k < points.dimensions; ++k) {
    double mean = 0;
    for (std::size_t i = 0; i < points.count; ++i) mean += points.at(i)[k];
    mean /= static_cast<double>(points.count);
    for (std::size_t i = 0; i < points.count; ++i)
      values[i * points.dimensions + k] -= mean;
  }
  return values;
}

double product(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

// Products of all pairs of rows, [rows, rows].
std::vector<double> gram(const std::vector<double>& x, std::size_t rows,
                         std::size_t columns) {
  std::vector<double> all(rows * rows);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      all[i * rows + j] = all[j * rows + i] =
          product(&x[i * columns], &x[j * columns], columns);
  return all;
}

std::vector<double> transposed(const std::vector<double>& x, std::size_t rows,
                               std::size_t columns) {
  std::vector<double> all(x.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < columns; ++k)
      all[k * rows + i] = x[i * columns + k];
  return all;
}

}  // namespace

// By the smaller of the two matrices of products, whose eigenvectors give those
// of the other.
Components principal_components(const PointSet& points) {
  const std::size_t n = points.count, d = points.dimensions;
  Components result;
  result.places.resize(n);
  if (n < 2 || d == 0) return result;
  const std::vector<double> x = centered(points);
  const bool by_points = n < d;
  const std::vector<double> matrix =
      by_points ? gram(x, n, d) : gram(transposed(x, n, d), d, n);
  double variance = 0;
  const std::size_t size = by_points ? n : d;
  for (std::size_t i = 0; i < size; ++i) variance += matrix[i * size + i];
  const linalg::Eigen eigen =
      linalg::symmetric_eigen(matrix, static_cast<std::int64_t>(size));
  for (std::size_t c = 0; c < std::min<std::size_t>(2, size); ++c) {
    const double value = std::max(0.0, eigen.values[c]);
    if (variance > 0) result.shares[c] = value / variance;
    const double* vector = &eigen.vectors[c * size];
    std::vector<double> direction(d);
    if (by_points)
      for (std::size_t k = 0; k < d; ++k)
        for (std::size_t i = 0; i < n; ++i)
          direction[k] += vector[i] * x[i * d + k];
    else
      std::copy_n(vector, d, direction.begin());
    const auto largest = std::ranges::max_element(
        direction, {}, [](double one) { return std::abs(one); });
    double length = std::sqrt(product(direction.data(), direction.data(), d));
    if (length <= 0) continue;
    if (*largest < 0) length = -length;
    for (double& one : direction) one /= length;
    for (std::size_t i = 0; i < n; ++i)
      result.places[i][c] = product(&x[i * d], direction.data(), d);
  }
  return result;
}

}  // namespace dl::plot
