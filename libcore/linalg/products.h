// Products of matrices, by OpenBLAS, on the calling thread.
//
// Matrices are row major.  Extents that do not fit 31 bits are a bug of the
// caller's.  Thread-safe.

#ifndef DL_LIBCORE_LINALG_PRODUCTS_H_
#define DL_LIBCORE_LINALG_PRODUCTS_H_

#include <cstdint>

namespace dl::linalg {

// A matrix as it lies in memory, `row` floats from one row to the next; or its
// transpose.
struct Factor {
  const float* data;
  std::int64_t row;
  bool transposed = false;
};

// c [m, n] = a [m, k] b [k, n], added to what c holds if `add`; c_row floats
// from one row of c to the next.  k == 0 is a sum of nothing.
void multiply(float* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
              std::int64_t k, Factor a, Factor b, bool add);

// The lower triangle of s [n, n] += x' x, x: [rows, n].  Elements above the
// diagonal are left alone.
void add_squares(double* s, std::int64_t n, const double* x, std::int64_t rows);

}  // namespace dl::linalg

#endif  // DL_LIBCORE_LINALG_PRODUCTS_H_
