// OpenBLAS, the library behind this folder, which no other folder includes.

#ifndef DL_LIBCORE_LINALG_OPENBLAS_H_
#define DL_LIBCORE_LINALG_OPENBLAS_H_

#include <mutex>
#include <string>

namespace dl::linalg {

// "OpenBLAS 0.3.21", and what it takes this processor for: "Zen", "neoversen1".
std::string library();
std::string processor();

// While one lives, OpenBLAS computes on the calling thread alone, which is one
// of many that compute side by side.  Every call of it has one.
//
// Only the pthreads variant of the library may be called by several threads at
// once: with the serial one of 0.3.21 they get wrong sums, with that for OpenMP
// they stall.  There they take turns.
class Turn {
 public:
  Turn();

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace dl::linalg

#endif  // DL_LIBCORE_LINALG_OPENBLAS_H_
