// Enumerations and their names in options and documents.

#ifndef DL_LIBCORE_BASE_NAMES_H_
#define DL_LIBCORE_BASE_NAMES_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dl {

// A constant table of all values and their names.
template <typename Enum, std::size_t N>
struct Names {
  std::array<std::pair<Enum, std::string_view>, N> entries;

  constexpr std::string_view of(Enum value) const {
    for (const auto& [each, name] : entries)
      if (each == value) return name;
    return "";
  }
  constexpr std::optional<Enum> find(std::string_view wanted) const {
    for (const auto& [each, name] : entries)
      if (name == wanted) return each;
    return std::nullopt;
  }
  // "sum, mean or scaled"
  std::string list() const {
    std::string text;
    for (std::size_t i = 0; i < N; ++i) {
      if (i > 0) text += i + 1 == N ? " or " : ", ";
      text += entries[i].second;
    }
    return text;
  }
};

}  // namespace dl

#endif  // DL_LIBCORE_BASE_NAMES_H_
