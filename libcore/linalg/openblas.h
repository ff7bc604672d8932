// OpenBLAS, the library behind this folder, which no other folder includes.

#ifndef DL_LIBCORE_LINALG_OPENBLAS_H_
#define DL_LIBCORE_LINALG_OPENBLAS_H_

#include <string>

namespace dl::linalg {

// "OpenBLAS 0.3.21", and what it takes this processor for: "Zen", "neoversen1".
std::string library();
std::string processor();

// Has it compute on the calling thread alone, which is one of many that compute
// side by side.  Everything here calls it first.  Thread-safe.
void use_one_thread();

}  // namespace dl::linalg

#endif  // DL_LIBCORE_LINALG_OPENBLAS_H_
