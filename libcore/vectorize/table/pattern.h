// The key "pattern" of vectorizers that take a text: the part of it that
// counts.

#ifndef DL_LIBCORE_VECTORIZE_TABLE_PATTERN_H_
#define DL_LIBCORE_VECTORIZE_TABLE_PATTERN_H_

#include <memory>
#include <string>
#include <string_view>

#include "libcore/vectorize/recipe/keys.h"

namespace dl::vectorize {

inline constexpr RecipeKey kPatternKey = {
    .name = "pattern",
    .kind = KeyKind::kPattern,
    .doc =
        "A regular expression in RE2's syntax (as Perl's, without what looks "
        "ahead or back) that is found in the text; what its first parentheses "
        "match is taken, or all of it. A text without it is a bad record."};

// A regular expression, found in time that grows as the text does.
class Pattern {
 public:
  // "": none.
  // Throws Error: code, "'(' is no regular expression (missing ): ()".
  Pattern(const std::string& expression, Code code);
  // The key of a vectorizer.
  // Throws Error: kConfig.
  explicit Pattern(const RecipeSettings& settings);
  ~Pattern();
  Pattern(Pattern&&) noexcept;

  bool is_none() const { return engine_ == nullptr; }
  // The whole text without a pattern.
  // Throws Error: kData, it is not in the text.
  std::string part_of(std::string_view text) const;
  // The same into `part`; false: it is not in the text.
  bool find(std::string_view text, std::string& part) const;
  // The text with `by` in place of each part that fits; "\\1" in it is what
  // the first parentheses match.
  std::string replaced(std::string_view text, const std::string& by) const;
  // Throws Error: kConfig, `by` names parentheses that the pattern lacks.
  void check_replacement(const std::string& by) const;

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_PATTERN_H_
