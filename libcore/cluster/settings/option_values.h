// Values of options with their ranges, and what to say of those outside.

#ifndef DL_LIBCORE_CLUSTER_SETTINGS_OPTION_VALUES_H_
#define DL_LIBCORE_CLUSTER_SETTINGS_OPTION_VALUES_H_

#include <cstdint>
#include <limits>
#include <string>

#include "libcore/base/error.h"
#include "libcore/base/names.h"

namespace dl::cluster {

// All throw Error: kUsage, naming the option.
inline std::int64_t in_range(
    const char* option, std::int64_t value, std::int64_t min,
    std::int64_t max = std::numeric_limits<std::int32_t>::max()) {
  if (value < min || value > max)
    bad_usage(std::string(option) + ": want an integer of " +
              std::to_string(min) +
              (value > max ? " to " + std::to_string(max) : " or more") +
              ", got " + std::to_string(value));
  return value;
}

template <typename Enum, std::size_t N>
Enum one_of(const char* option, const std::string& value,
            const Names<Enum, N>& names) {
  if (const auto found = names.find(value)) return *found;
  bad_usage(std::string(option) + ": want " + names.list() + ", got '" + value +
            "'");
}

inline bool yes_or_no(const char* option, const std::string& value) {
  constexpr Names<bool, 2> kYesNo{{{{true, "yes"}, {false, "no"}}}};
  return one_of(option, value, kYesNo);
}

// A rule in the text that its own parse() takes.
template <typename Rule>
Rule parse_rule(const char* option, const std::string& text) {
  try {
    return Rule::parse(text);
  } catch (Error& error) {
    error.add_context(option);
    throw;
  }
}

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SETTINGS_OPTION_VALUES_H_
