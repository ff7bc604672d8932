// Keys of vectorizers about missing values: "na", the texts that stand for one,
// and "indicator".

#ifndef DL_LIBCORE_VECTORIZE_TABLE_MISSING_H_
#define DL_LIBCORE_VECTORIZE_TABLE_MISSING_H_

#include <string>
#include <string_view>
#include <utility>

#include "libcore/vectorize/recipe/keys.h"
#include "libcore/vectorize/table/word_set.h"

namespace dl::vectorize {

inline constexpr RecipeKey kNaKey = {
    .name = "na",
    .kind = KeyKind::kWords,
    .doc =
        "Texts that count as a missing value, beside an empty one. Without "
        "the key an empty text does where *missing* says what becomes of it, "
        "and nothing does elsewhere."};

inline constexpr RecipeKey kIndicatorKey = {
    .name = "indicator",
    .kind = KeyKind::kBoolean,
    .doc =
        "Add a number for each column, behind all of them: 1 where its "
        "value is missing, else 0."};
inline constexpr const char* kIndicatorAlone =
    "indicator wants \"missing\", which says what stands in for a missing "
    "value";
// The column of an indicator.
inline std::string missing_name(const std::string& column) {
  return column + "=missing";
}

class MissingWords {
 public:
  explicit MissingWords(const RecipeSettings& settings)
      : known_(settings.has("na") || (settings.has("missing") &&
                                      settings.text("missing") != "fail")) {
    if (settings.has("na"))
      for (std::string& word : settings.texts("na"))
        words_.add(std::move(word));
    if (known_) words_.add("");
  }
  bool are_known() const { return known_; }
  bool may_begin(char start) const { return known_ && words_.may_begin(start); }
  const WordSet& words() const { return words_; }
  bool contain(std::string_view text) const {
    return known_ && words_.contains(text);
  }

 private:
  bool known_;
  WordSet words_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_MISSING_H_
