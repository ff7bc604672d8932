// "word:number:number": how rules of the exchange are written in options and in
// run.json.

#ifndef DL_LIBCORE_EXCHANGE_RULES_RULE_TEXT_H_
#define DL_LIBCORE_EXCHANGE_RULES_RULE_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace dl::exchange {

struct RuleText {
  std::string text;  // the whole text, for messages
  std::string word;
  std::vector<double> numbers;

  // Throws Error: kUsage, something after a colon is no finite number.
  static RuleText parse(std::string_view text);
  // "'TEXT': want WANT"
  [[noreturn]] void fail(const std::string& want) const;
};

// The shortest text that reads as the same number.
std::string number_text(double value);

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RULES_RULE_TEXT_H_
