// Regular expressions, by RE2.

#include "libcore/vectorize/table/pattern.h"

#include <re2/re2.h>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::vectorize {
namespace {

RE2::Options options_of_patterns() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

}  // namespace

struct Pattern::Engine {
  explicit Engine(const std::string& text)
      : source(text),
        alone(text, options_of_patterns()),
        whole("(" + text + ")", options_of_patterns()) {}
  std::string source;
  RE2 alone;
  RE2 whole;  // with parentheses around all of it
};

Pattern::Pattern(const std::string& expression, Code code) {
  if (expression.empty()) return;
  engine_ = std::make_unique<Engine>(expression);
  // Alone first, as parentheses around it could make up for others.
  const std::string& error =
      engine_->alone.ok() ? engine_->whole.error() : engine_->alone.error();
  if (!error.empty())
    throw Error{code, in_quotes(expression) + " is no regular expression (" +
                          displayed(error) + ")"};
}

Pattern::Pattern(const RecipeSettings& settings)
    : Pattern(settings.has("pattern") ? settings.text("pattern") : "",
              Code::kConfig) {}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;

std::string Pattern::part_of(std::string_view text) const {
  std::string part(text);
  if (engine_ && !find(text, part))
    bad_data(in_quotes(text) + " has nothing that fits the pattern " +
             in_quotes(engine_->source));
  return part;
}

bool Pattern::find(std::string_view text, std::string& part) const {
  const re2::StringPiece piece(text.data(), text.size());
  std::string all;
  return engine_->whole.NumberOfCapturingGroups() > 1
             ? RE2::PartialMatch(piece, engine_->whole, &all, &part)
             : RE2::PartialMatch(piece, engine_->whole, &part);
}

std::string Pattern::replaced(std::string_view text,
                              const std::string& by) const {
  std::string made(text);
  RE2::GlobalReplace(&made, engine_->alone, by);
  return made;
}

void Pattern::check_replacement(const std::string& by) const {
  std::string why;
  if (!engine_->alone.CheckRewriteString(by, &why)) bad_config(why);
}

}  // namespace dl::vectorize
