// PCA and whitening from a covariance.

#include "libcore/data/statistics/decorrelate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/linalg/eigen.h"
#include "libcore/linalg/products.h"

namespace dl::data {
namespace {

// Nine digits tell all floats apart, and networks compute with floats: what is
// beyond would only make models larger.
double rounded(double value) {
  return std::strtod(format("%.9g", value).c_str(), nullptr);
}

// The factor for each column: 1 / deviation; 0 where it is constant.
std::vector<double> inverse_deviations(const Covariance& covariance,
                                       const std::vector<double>& matrix,
                                       tensor::DType dtype) {
  const auto n = static_cast<std::size_t>(covariance.columns());
  std::vector<double> factors(n);
  for (std::size_t c = 0; c < n; ++c) {
    const double deviation = std::sqrt(matrix[c * n + c]);
    const double magnitude = std::fabs(covariance.mean()[c]) + deviation;
    if (!is_constant(deviation, magnitude, dtype)) factors[c] = 1 / deviation;
  }
  return factors;
}

}  // namespace

std::optional<Decorrelation> Decorrelation::of(std::string_view kind) {
  constexpr std::string_view kPca = "pca";
  if (kind == "whiten") return Decorrelation{};
  if (!kind.starts_with(kPca)) return std::nullopt;
  const char* end = kind.data() + kind.size();
  std::int64_t components = 0;
  if (kind.size() > kPca.size() + 1 && kind[kPca.size()] == ':') {
    const auto [rest, error] =
        std::from_chars(kind.data() + kPca.size() + 1, end, components);
    if (error == std::errc() && rest == end && components > 0 &&
        kind[kPca.size() + 1] != '0')
      return Decorrelation{components};
  }
  throw Error{Code::kUsage, "normalizer '" + displayed(kind) +
                                "': want pca:K, K components, as pca:50"};
}

PrincipalComponents principal_components(const Covariance& covariance,
                                         std::int64_t components) {
  const std::int64_t n = covariance.columns();
  require(0 < components && components <= n, "components beyond the columns");
  const linalg::Eigen eigen = linalg::symmetric_eigen(covariance.matrix(), n);
  PrincipalComponents made;
  made.normalizer = {"pca", covariance.mean(),
                     std::vector<double>(static_cast<std::size_t>(n), 1.0)};
  for (std::int64_t i = 0; i < components * n; ++i)
    made.normalizer.matrix.push_back(
        rounded(eigen.vectors[static_cast<std::size_t>(i)]));
  double all = 0, kept = 0;
  const double least = eigen.values[0] * static_cast<double>(n) *
                       std::numeric_limits<double>::epsilon();
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = eigen.values[static_cast<std::size_t>(i)];
    if (value <= least) break;
    all += value;
    if (i < components) kept += value;
    ++made.rank;
  }
  if (all > 0) {
    made.share = kept / all;
    made.deviation = std::sqrt(eigen.values[0]);
  }
  return made;
}

Normalizer whitening(const Covariance& covariance, tensor::DType dtype) {
  const auto n = static_cast<std::size_t>(covariance.columns());
  std::vector<double> matrix = covariance.matrix();
  std::vector<double> factors = inverse_deviations(covariance, matrix, dtype);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j)
      matrix[i * n + j] *= factors[i] * factors[j];
    matrix[i * n + i] = 1;
  }
  // U' diag(1 / sqrt(values + epsilon)) U, by U' scaled halfway on both sides.
  linalg::Eigen eigen =
      linalg::symmetric_eigen(std::move(matrix), covariance.columns());
  for (std::size_t i = 0; i < n; ++i) {
    const double value = std::max(eigen.values[i], 0.0) + kWhitenEpsilon;
    const double factor = std::pow(value, -0.25);
    for (std::size_t c = 0; c < n; ++c) eigen.vectors[i * n + c] *= factor;
  }
  std::vector<double> root(n * n);
  linalg::add_squares(root.data(), covariance.columns(), eigen.vectors.data(),
                      covariance.columns());
  for (double& factor : factors)
    if (factor == 0) factor = 1;
  Normalizer made{"whiten", covariance.mean(), std::move(factors)};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      made.matrix.push_back(rounded(root[i >= j ? i * n + j : j * n + i]));
  return made;
}

}  // namespace dl::data
