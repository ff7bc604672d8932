// Parsing and writing of "word:number:number".

#include "libcore/exchange/rules/rule_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "libcore/base/error.h"

namespace dl::exchange {
namespace {

double number_of(std::string_view digits, const RuleText& rule) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() ||
      !std::isfinite(value))
    throw Error{Code::kUsage, "'" + rule.text + "': '" + std::string(digits) +
                                  "' is no number"};
  return value;
}

}  // namespace

RuleText RuleText::parse(std::string_view text) {
  RuleText rule;
  rule.text = text;
  std::size_t colon = text.find(':');
  rule.word = text.substr(0, colon);
  while (colon != std::string_view::npos) {
    text.remove_prefix(colon + 1);
    colon = text.find(':');
    rule.numbers.push_back(number_of(text.substr(0, colon), rule));
  }
  return rule;
}

void RuleText::fail(const std::string& want) const {
  throw Error{Code::kUsage, "'" + text + "': want " + want};
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace dl::exchange
