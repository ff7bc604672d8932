// Helpers that the groups of settings share: values read from run.json and
// Welcome.

#ifndef DL_LIBCORE_CLUSTER_SETTINGS_SETTINGS_FIELDS_H_
#define DL_LIBCORE_CLUSTER_SETTINGS_SETTINGS_FIELDS_H_

#include <cstdint>
#include <limits>
#include <string>

#include "libcore/base/json.h"
#include "libcore/base/names.h"

namespace dl::cluster {

constexpr std::int64_t kMostCounted = std::numeric_limits<std::int32_t>::max();

// The value of a field that is one of the names.  Throws Error with the code of
// the view, as all functions here.
template <typename Enum, std::size_t N>
Enum enum_of(const JsonView& view, const Names<Enum, N>& names) {
  if (const auto value = names.find(view.string())) return *value;
  view.fail(names.list());
}

// A rule in the text that its own parse() takes.
template <typename Rule>
Rule rule_of(const JsonView& view) {
  try {
    return Rule::parse(view.string());
  } catch (const Error& error) {
    view.fail(error.what());
  }
}

inline double at_least_zero(const JsonView& view) {
  const double value = view.number();
  if (!(value >= 0)) view.fail("a number of at least 0");
  return value;
}

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SETTINGS_SETTINGS_FIELDS_H_
