#include "libcore/linalg/openblas.h"

#include <cblas.h>

namespace dl::linalg {

std::string library() {
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
  const std::string text = openblas_get_config();
  return text.substr(0, text.find(' ', text.find(' ') + 1));
}

std::string processor() { return openblas_get_corename(); }

void use_one_thread() {
  static const bool once = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace dl::linalg
