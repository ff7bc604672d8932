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
      : source(text), whole("(" + text + ")", options_of_patterns()) {}
  std::string source;
  RE2 whole;  // with parentheses around all of it
};

Pattern::Pattern(const std::string& expression, Code code) {
  if (expression.empty()) return;
  // Alone first, as parentheses around it could make up for others.
  const RE2 alone(expression, options_of_patterns());
  engine_ = std::make_unique<Engine>(expression);
  const std::string& error =
      alone.ok() ? engine_->whole.error() : alone.error();
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
  if (!engine_) return std::string(text);
  const re2::StringPiece piece(text.data(), text.size());
  std::string all, first;
  const bool has_parts = engine_->whole.NumberOfCapturingGroups() > 1;
  if (!(has_parts ? RE2::PartialMatch(piece, engine_->whole, &all, &first)
                  : RE2::PartialMatch(piece, engine_->whole, &all)))
    bad_data(in_quotes(text) + " has nothing that fits the pattern " +
             in_quotes(engine_->source));
  return has_parts ? first : all;
}

}  // namespace dl::vectorize
