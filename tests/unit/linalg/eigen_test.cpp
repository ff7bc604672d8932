// Eigenvectors of matrices that are known by hand, and of others by what they
// have to be.

#include "libcore/linalg/eigen.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"

namespace dl::linalg::eigen_test {

namespace {

void check_row(const Eigen& eigen, std::size_t row,
               const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(eigen.vectors[row * expected.size() + i] ==
          Approx(expected[i]).margin(1e-12));
}

}  // namespace

TEST_CASE("eigenvectors by hand: the largest value first, signs fixed") {
  // Elements above the diagonal are not read.
  const Eigen two = symmetric_eigen({2, 99, 1, 2}, 2);
  CHECK(two.values[0] == Approx(3));
  CHECK(two.values[1] == Approx(1));
  const double half = std::sqrt(0.5);
  check_row(two, 0, {half, half});
  check_row(two, 1, {half, -half});  // of equal elements the first is positive
  const Eigen minus = symmetric_eigen({1, 0, -2, 1}, 2);
  check_row(minus, 0, {half, -half});
  check_row(minus, 1, {half, half});

  const Eigen three = symmetric_eigen({2, 0, 0, 0, -1, 0, 0, 0, 5}, 3);
  CHECK(three.values == std::vector<double>{5, 2, -1});
  check_row(three, 0, {0, 0, 1});
  check_row(three, 1, {1, 0, 0});
  check_row(three, 2, {0, 1, 0});

  const Eigen one = symmetric_eigen({-4}, 1);
  CHECK(one.values == std::vector<double>{-4});
  CHECK(one.vectors == std::vector<double>{1});
}

TEST_CASE("eigenvectors are orthonormal and make up the matrix") {
  for (const std::size_t n : {5, 64, 131}) {
    dl::Philox random(3, n);
    std::vector<double> matrix(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        matrix[i * n + j] = matrix[j * n + i] = random.normal();
    const Eigen eigen = symmetric_eigen(matrix, static_cast<std::int64_t>(n));
    double apart = 0, skew = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0, dot = 0;
        for (std::size_t k = 0; k < n; ++k) {
          sum += eigen.values[k] * eigen.vectors[k * n + i] *
                 eigen.vectors[k * n + j];
          dot += eigen.vectors[i * n + k] * eigen.vectors[j * n + k];
        }
        apart = std::max(apart, std::fabs(sum - matrix[i * n + j]));
        skew = std::max(skew, std::fabs(dot - (i == j ? 1 : 0)));
      }
    CHECK(apart < 1e-12 * static_cast<double>(n));
    CHECK(skew < 1e-12 * static_cast<double>(n));
    CHECK(std::is_sorted(eigen.values.rbegin(), eigen.values.rend()));
  }
}

TEST_CASE("a matrix that is not finite has no eigenvectors") {
  for (const double odd :
       {std::nan(""), std::numeric_limits<double>::infinity()}) {
    CHECK_THROWS_AS(symmetric_eigen({1, 0, odd, 1}, 2), dl::Error);
    CHECK_NOTHROW(symmetric_eigen({1, odd, 0, 1}, 2));
  }
  CHECK_THROWS_AS(symmetric_eigen({1, 0, 1}, 2), dl::Error);
}

}  // namespace dl::linalg::eigen_test
