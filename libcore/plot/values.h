// Values of JSON objects that may be anything: a default where they are not of
// the wanted kind.

#ifndef DL_LIBCORE_PLOT_VALUES_H_
#define DL_LIBCORE_PLOT_VALUES_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "libcore/base/json.h"
#include "libcore/plot/event_line.h"

namespace dl::plot {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

inline double number(const Json& object, const char* key) {
  if (!object.is_object()) return kNone;
  const auto at = object.find(key);
  return at == object.end() || !at->is_number() ? kNone : at->get<double>();
}

inline double number(EventValue object, const char* key) {
  return object[key].number();
}

// 0 to 2^53; else 0.
template <typename Object>
std::int64_t count(const Object& object, const char* key) {
  const double value = number(object, key);
  return value >= 0 && value < 9007199254740992.0
             ? static_cast<std::int64_t>(value)
             : 0;
}

inline std::string text(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto at = object.find(key);
  return at == object.end() || !at->is_string() ? std::string()
                                                : at->get<std::string>();
}

inline std::string text(EventValue object, const char* key) {
  return object[key].text();
}

inline Json part(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto at = object.find(key);
  return at == object.end() ? Json() : *at;
}

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_VALUES_H_
