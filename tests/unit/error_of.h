// The error of a call, as text.

#ifndef DL_TESTS_UNIT_ERROR_OF_H_
#define DL_TESTS_UNIT_ERROR_OF_H_

#include <functional>
#include <string>

#include "libcore/base/error.h"

namespace dl {

// "CODE: message" of the Error that call() throws; "" if it throws none.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return std::to_string(static_cast<int>(e.code())) + ": " + e.what();
  }
  return "";
}

}  // namespace dl

#endif  // DL_TESTS_UNIT_ERROR_OF_H_
