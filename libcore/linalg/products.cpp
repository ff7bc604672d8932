// Matrix products by OpenBLAS.

#include "libcore/linalg/products.h"

#include <cblas.h>

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/linalg/openblas.h"

namespace dl::linalg {
namespace {

blasint extent(std::int64_t n) {
  require(std::in_range<blasint>(n), "a matrix too large for BLAS");
  return static_cast<blasint>(n);
}

// BLAS looks at the distance of rows even where there is but one, or none.
blasint step(const Factor& a, std::int64_t rows, std::int64_t columns) {
  const std::int64_t width = a.transposed ? rows : columns;
  return extent(std::max<std::int64_t>({a.row, width, 1}));
}

CBLAS_TRANSPOSE transpose(const Factor& a) {
  return a.transposed ? CblasTrans : CblasNoTrans;
}

}  // namespace

void multiply(float* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
              std::int64_t k, Factor a, Factor b, bool add) {
  const Turn turn;
  if (m == 0 || n == 0) return;
  cblas_sgemm(CblasRowMajor, transpose(a), transpose(b), extent(m), extent(n),
              extent(k), 1, a.data, step(a, m, k), b.data, step(b, k, n),
              add ? 1 : 0, c, extent(std::max(c_row, n)));
}

void add_squares(double* s, std::int64_t n, const double* x,
                 std::int64_t rows) {
  const Turn turn;
  if (n == 0) return;
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, extent(n), extent(rows), 1,
              x, extent(n), 1, s, extent(n));
}

}  // namespace dl::linalg
