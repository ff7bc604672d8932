// Access to OpenBLAS: its version, its kernels, and turns of the threads that
// call it.

#include "libcore/linalg/openblas.h"

#include <cblas.h>

namespace dl::linalg {

std::string library() {
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
  const std::string text = openblas_get_config();
  return text.substr(0, text.find(' ', text.find(' ') + 1));
}

std::string processor() { return openblas_get_corename(); }

Turn::Turn() {
  static std::mutex one_at_a_time;
  static const bool many = [] {
    openblas_set_num_threads(1);
    return openblas_get_parallel() == OPENBLAS_THREAD;
  }();
  if (!many) lock_ = std::unique_lock(one_at_a_time);
}

}  // namespace dl::linalg
