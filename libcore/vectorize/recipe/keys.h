// The keys of a recipe: each with its type, range, default and words.  The
// checks, the messages, dl-recipe(5) and the JSON Schema come of them.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_KEYS_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_KEYS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"

namespace dl::vectorize {

enum class KeyKind {
  kInteger,  // low..high
  kPair,     // two integers of low..high, as "[height, width]"
  kBoolean,
  kOneOf,      // one of `words`
  kText,       // any that is not empty
  kPattern,    // a regular expression
  kDelimiter,  // a character, or "\\t"
  kEncoding,   // one that iconv(3) knows
  kIntegers,   // an array of integers of low..high
  kTexts,      // an array of them, each once
  kWords,      // an array of any texts
  kAnyText,    // also an empty one
  kColumns,    // a text, or an array of them, each once
  kTextMap,    // an object of texts, numbers, true and false
  kScalar,     // one of them
  kFormula,    // as steps have it
  kNumber,     // any that is finite
  kNumbers     // an array of them
};

struct RecipeKey {
  std::string_view name;
  KeyKind kind = KeyKind::kText;
  // JSON; "" : it must be given; "null": it may be left out.
  std::string_view fallback = "null";
  std::string_view doc = {};  // a sentence in scdoc's format
  std::int64_t low = 0, high = 0;
  std::span<const std::string_view> words = {};
  std::string_view of = {};  // what a pair is of

  bool required() const { return fallback.empty(); }
  // "integer 1..65535", "one of crop, pad, stretch".
  std::string wanted() const;
  // "" if a value is one, else "want one of crop, pad, stretch, got "x"".
  std::string problem(const Json& value) const;
  Json schema() const;
};

// The way in which a recipe came: messages name its remedies.
enum class RecipeFrom { kFile, kOptions, kModel };

// Checks an object with these keys; a line for each mistake, with its path.
void check_keys(const Json& object, std::span<const RecipeKey> keys,
                const std::string& path, std::vector<std::string>& problems);

// An object that was checked, with the defaults filled in.
class RecipeSettings {
 public:
  RecipeSettings(const Json& given, std::span<const RecipeKey> keys,
                 RecipeFrom from = RecipeFrom::kFile);

  RecipeFrom from() const { return from_; }
  // "--id-bytes", or "\"bytes\" of the recipe".
  std::string remedy(std::string_view option, std::string_view key) const;
  bool has(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  // The texts of kColumns.
  std::vector<std::string> list(std::string_view name) const;
  // A text, number or truth as a text.
  std::string scalar(std::string_view name) const;
  std::map<std::string, std::string> text_map(std::string_view name) const;
  double number(std::string_view name) const;
  std::vector<double> numbers(std::string_view name) const;
  // The place of a word in the list that the key has.
  std::size_t word(std::string_view name,
                   std::span<const std::string_view> words) const;
  const Json& json() const { return values_; }

 private:
  const Json& at(std::string_view name) const;
  Json values_ = Json::object();
  RecipeFrom from_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_KEYS_H_
