// Numbers in what people read.

#ifndef DL_LIBCORE_BASE_NUMBER_FORMAT_H_
#define DL_LIBCORE_BASE_NUMBER_FORMAT_H_

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace dl {

// pattern: of printf, with one conversion of a double.
inline std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

// "1 example", "2 examples", "2 mini-batches".  what: one of them.
inline std::string counted(std::int64_t n, const std::string& what) {
  const char* const ending = n == 1 ? "" : what.ends_with('h') ? "es" : "s";
  return std::to_string(n) + " " + what + ending;
}

// A metric; one that the data does not define is shown as dl-eval does.
inline std::string metric_text(double value) {
  return std::isnan(value) ? "-" : format("%.4g", value);
}

}  // namespace dl

#endif  // DL_LIBCORE_BASE_NUMBER_FORMAT_H_
