#include "libcore/vectorize/steps/tokens.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

bool is_digit_of_number(char c) { return c >= '0' && c <= '9'; }

bool is_in_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || byte >= 0x80;
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view formula) : formula_(formula) {}

  std::vector<Token> all() {
    for (;;) {
      while (at_ < formula_.size() && std::string_view(" \t\n\r").find(
                                          formula_[at_]) != std::string::npos)
        ++at_;
      token_ = {};
      token_.place = at_ + 1;
      if (at_ < formula_.size()) take();
      tokens_.push_back(token_);
      if (token_.kind == Token::kEnd) return std::move(tokens_);
    }
  }

 private:
  void take() {
    const char c = formula_[at_];
    const bool is_fraction = c == '.' && at_ + 1 < formula_.size() &&
                             is_digit_of_number(formula_[at_ + 1]);
    if (c == '\'' || c == '"' || c == '`')
      take_quoted(c);
    else if (is_digit_of_number(c) || is_fraction)
      take_number();
    else if (is_in_name(c))
      take_name();
    else
      take_sign();
  }

  // Two of its quotes are one.
  void take_quoted(char quote) {
    token_.kind = quote == '`' ? Token::kColumn : Token::kText;
    for (++at_;; ++at_) {
      if (at_ == formula_.size())
        bad_config("character " + std::to_string(token_.place) +
                   ": the quote is not closed");
      if (formula_[at_] == quote &&
          (at_ + 1 == formula_.size() || formula_[at_ + 1] != quote))
        break;
      if (formula_[at_] == quote) ++at_;
      token_.text += formula_[at_];
    }
    ++at_;
  }

  void take_number() {
    std::size_t end = at_;
    const auto is_part = [&](char c) {
      const char before = formula_[end - 1];
      return is_in_name(c) || c == '.' ||
             ((c == '+' || c == '-') && (before == 'e' || before == 'E'));
    };
    for (++end; end < formula_.size() && is_part(formula_[end]); ++end) {
    }
    token_.kind = Token::kNumber;
    token_.text = formula_.substr(at_, end - at_);
    if (!parse_number(token_.text, token_.number))
      bad_config("character " + std::to_string(token_.place) + ": " +
                 in_quotes(clipped(token_.text)) +
                 " is no number; a column that is called so stands in "
                 "backquotes, as `1st`");
    if (!std::isfinite(token_.number))
      bad_config("character " + std::to_string(token_.place) + ": " +
                 in_quotes(clipped(token_.text)) +
                 " is beyond the range of numbers");
    at_ = end;
  }

  void take_name() {
    std::size_t end = at_;
    while (end < formula_.size() &&
           (is_in_name(formula_[end]) || formula_[end] == '.'))
      ++end;
    token_.kind = Token::kName;
    token_.text = formula_.substr(at_, end - at_);
    at_ = end;
  }

  void take_sign() {
    static constexpr std::string_view kSigns[] = {
        "==", "!=", "<=", ">=", "<>", "=", "<", ">", "+",
        "-",  "*",  "/",  "%",  "^",  "(", ")", ","};
    const std::string_view rest = formula_.substr(at_);
    const auto* sign = std::ranges::find_if(
        kSigns, [&](std::string_view s) { return rest.starts_with(s); });
    if (sign == std::end(kSigns))
      bad_config("character " + std::to_string(token_.place) + ": " +
                 in_quotes(rest.substr(0, 1)) +
                 " begins no number, name, 'text' or operator; names with "
                 "other characters stand in backquotes, as `in %`");
    token_.kind = Token::kSign;
    token_.text = *sign;
    at_ += sign->size();
  }

  std::string_view formula_;
  std::size_t at_ = 0;
  Token token_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view formula) {
  return Tokenizer(formula).all();
}

}  // namespace dl::vectorize
