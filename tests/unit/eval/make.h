// Small tensors for the tests of evaluations.

#ifndef DL_TESTS_UNIT_EVAL_MAKE_H_
#define DL_TESTS_UNIT_EVAL_MAKE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/tensor/tensor.h"
#include "tests/unit/error_of.h"

namespace dl::eval {

// [values.size() / columns, columns], or [values.size()] for columns == 0.
template <typename T>
tensor::Tensor make_tensor(const std::vector<T>& values,
                           std::int64_t columns = 0) {
  const auto n = static_cast<std::int64_t>(values.size());
  tensor::Tensor made(
      tensor::dtype_of<T>(),
      columns == 0 ? tensor::Shape{n} : tensor::Shape{n / columns, columns});
  std::copy(values.begin(), values.end(), made.as<T>().begin());
  return made;
}

}  // namespace dl::eval

#endif  // DL_TESTS_UNIT_EVAL_MAKE_H_
