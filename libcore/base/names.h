// Names: of enumerations in options and documents, and of outputs.

#ifndef DL_LIBCORE_BASE_NAMES_H_
#define DL_LIBCORE_BASE_NAMES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// A name that users give to a part of a network or of data: up to 200 letters,
// digits, '_', '-', '.'.
inline bool is_plain_name(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return !text.empty() && text.size() <= 200 &&
         text.find_first_not_of(kLetters) == std::string_view::npos;
}

// The name of output j of a network: its name, else its number, as "unit 9"
// where another one has the name "9".
inline std::string output_name(const std::vector<std::string>& names,
                               std::int64_t j) {
  if (std::cmp_less(j, names.size())) return names[static_cast<std::size_t>(j)];
  std::string name = std::to_string(j);
  while (std::find(names.begin(), names.end(), name) != names.end())
    name = "unit " + name;
  return name;
}

}  // namespace dl

#endif  // DL_LIBCORE_BASE_NAMES_H_
