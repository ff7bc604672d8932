// Eigenvalues and eigenvectors, by LAPACK in OpenBLAS, on the calling thread.
//
// Their last bits depend on the processor.  Thread-safe.

#ifndef DL_LIBCORE_LINALG_EIGEN_H_
#define DL_LIBCORE_LINALG_EIGEN_H_

#include <cstdint>
#include <vector>

namespace dl::linalg {

struct Eigen {
  std::vector<double> values;   // [n], the largest first
  std::vector<double> vectors;  // [n, n]: row i is of values[i], of length 1
};

// Eigenvectors of a symmetric matrix [n, n], n > 0, of which the lower triangle
// is read. A vector's sign is that of its largest element, which is positive;
// of several that are equal up to rounding, the first. Takes 3 n^2 numbers of
// memory. Throws Error: kData, it has an element that is not finite.
Eigen symmetric_eigen(std::vector<double> matrix, std::int64_t n);

}  // namespace dl::linalg

#endif  // DL_LIBCORE_LINALG_EIGEN_H_
