// Symmetric eigenproblems by LAPACK.

#include "libcore/linalg/eigen.h"

#include <openblas_config.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/linalg/openblas.h"

// LAPACK's eigensolver, in Fortran: matrices are column major, so the upper
// triangle there is the lower one here, and vectors in columns are in rows.
extern "C" void dsyevd_(const char* jobz, const char* uplo, const blasint* n,
                        double* a, const blasint* lda, double* w, double* work,
                        const blasint* lwork, blasint* iwork,
                        const blasint* liwork, blasint* info,
                        std::size_t jobz_length, std::size_t uplo_length);

namespace dl::linalg {
namespace {

// Elements that differ by less may change places with the processor.
constexpr double kEqual = 1e-6;

void fix_sign(double* v, std::size_t n) {
  double most = 0;
  for (std::size_t i = 0; i < n; ++i) most = std::max(most, std::fabs(v[i]));
  std::size_t i = 0;
  while (std::fabs(v[i]) < (1 - kEqual) * most) ++i;
  if (v[i] < 0)
    for (std::size_t k = 0; k < n; ++k) v[k] = -v[k];
}

}  // namespace

Eigen symmetric_eigen(std::vector<double> matrix, std::int64_t size) {
  const auto n = static_cast<std::size_t>(size);
  require(size > 0 && matrix.size() == n * n &&
              std::in_range<blasint>(3 * size * size),
          "eigenvectors of no matrix, or one too large for LAPACK");
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      if (!std::isfinite(matrix[i * n + j]))
        throw Error{Code::kData,
                    "a matrix with an element that is not finite has no "
                    "eigenvectors"};
  const Turn turn;
  const auto order = static_cast<blasint>(size);
  std::vector<double> values(n);
  blasint info = 0;
  const auto solve = [&](std::vector<double>& work, blasint lwork,
                         std::vector<blasint>& iwork, blasint liwork) {
    dsyevd_("V", "U", &order, matrix.data(), &order, values.data(), work.data(),
            &lwork, iwork.data(), &liwork, &info, 1, 1);
    require(info >= 0, "LAPACK was called wrongly");
  };
  std::vector<double> work(1);
  std::vector<blasint> iwork(1);
  solve(work, -1, iwork, -1);  // asks for the room
  work.resize(static_cast<std::size_t>(work[0]));
  iwork.resize(static_cast<std::size_t>(iwork[0]));
  solve(work, static_cast<blasint>(work.size()), iwork,
        static_cast<blasint>(iwork.size()));
  if (info > 0)
    throw Error{Code::kData, "the eigenvectors of a matrix do not converge"};
  // LAPACK has the smallest first.
  std::ranges::reverse(values);
  for (std::size_t i = 0; i < n / 2; ++i)
    std::swap_ranges(matrix.begin() + static_cast<std::ptrdiff_t>(i * n),
                     matrix.begin() + static_cast<std::ptrdiff_t>((i + 1) * n),
                     matrix.end() - static_cast<std::ptrdiff_t>((i + 1) * n));
  for (std::size_t i = 0; i < n; ++i) fix_sign(matrix.data() + i * n, n);
  return {std::move(values), std::move(matrix)};
}

}  // namespace dl::linalg
