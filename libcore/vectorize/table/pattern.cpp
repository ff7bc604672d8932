#include "libcore/vectorize/table/pattern.h"

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::vectorize {
namespace {

// The library goes deeper with each letter, and long ones overflow the stack.
constexpr std::size_t kLongest = 4096;

}  // namespace

Pattern::Pattern(const RecipeSettings& settings) {
  if (!settings.has("pattern")) return;
  source_ = settings.text("pattern");
  try {
    expression_.emplace(source_);
  } catch (const std::regex_error&) {
    bad_config("pattern: " + in_quotes(source_) + " is no regular expression");
  }
}

std::string Pattern::part_of(const std::string& text) const {
  if (!expression_) return text;
  if (text.size() > kLongest)
    bad_data("a text of " + std::to_string(text.size()) +
             " bytes for the pattern, want " + std::to_string(kLongest) +
             " at most");
  std::smatch match;
  bool found = false;
  try {
    found = std::regex_search(text, match, *expression_);
  } catch (const std::regex_error&) {
    bad_data(clipped(text) + " is too much for the pattern " +
             in_quotes(source_));
  }
  if (!found)
    bad_data(in_quotes(text) + " has nothing that fits the pattern " +
             in_quotes(source_));
  return match.size() > 1 ? match[1].str() : match[0].str();
}

}  // namespace dl::vectorize
