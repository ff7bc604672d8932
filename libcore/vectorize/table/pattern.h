// The key "pattern" of vectorizers that take a text: the part of it that
// counts.

#ifndef DL_LIBCORE_VECTORIZE_TABLE_PATTERN_H_
#define DL_LIBCORE_VECTORIZE_TABLE_PATTERN_H_

#include <optional>
#include <regex>
#include <string>

#include "libcore/vectorize/recipe/keys.h"

namespace dl::vectorize {

inline constexpr RecipeKey kPatternKey = {
    .name = "pattern",
    .kind = KeyKind::kText,
    .doc =
        "A regular expression, as JavaScript has them, that is found in the "
        "text; what its first parentheses match is taken, or all of it. A "
        "text without it is a bad record."};

class Pattern {
 public:
  // Throws Error: kConfig, it is no regular expression.
  explicit Pattern(const RecipeSettings& settings);
  // The whole text without a pattern.
  // Throws Error: kData, it is not in the text.
  std::string part_of(const std::string& text) const;

 private:
  std::string source_;
  std::optional<std::regex> expression_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_PATTERN_H_
