#include "libcore/vectorize/steps/formula.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/steps/nodes.h"
#include "libcore/vectorize/steps/tokens.h"

namespace dl::vectorize {
namespace {

class FormulaParser {
 public:
  FormulaParser(std::string_view text, StepColumns& columns)
      : tokens_(tokens_of(text)), columns_(columns) {
    if (tokens_.size() > kMostTokens)
      bad_config("it is too long: more than " + std::to_string(kMostTokens) +
                 " words and signs");
  }

  FormulaPart all() {
    FormulaPart part = disjunction();
    if (next().kind != Token::kEnd) fail("an operator, or the end");
    return part;
  }

 private:
  static constexpr int kMostDepth = 100;  // of parentheses
  // A sum of so many terms lies as deep on the stack.
  static constexpr std::size_t kMostTokens = 10000;

  const Token& next() const { return tokens_[at_]; }
  bool is_next(std::string_view word) const {
    return (next().kind == Token::kSign || next().kind == Token::kName) &&
           next().text == word;
  }
  bool take(std::string_view word) {
    if (!is_next(word)) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail(const std::string& wanted) const {
    bad_config(
        "character " + std::to_string(next().place) + ": want " + wanted +
        ", got " +
        (next().kind == Token::kEnd ? "the end" : in_quotes(next().text)));
  }

  static FormulaPart call(const std::string& name, FormulaPart a, FormulaPart b,
                          const std::string& called) {
    std::vector<FormulaPart> both;
    both.push_back(std::move(a));
    if (b) both.push_back(std::move(b));
    return call_part(find_operator(name), std::move(both), called);
  }

  FormulaPart disjunction() {
    if (++depth_ > kMostDepth) bad_config("it has too many parentheses");
    FormulaPart left = conjunction();
    while (take("or")) left = call("or", std::move(left), conjunction(), "or");
    --depth_;
    return left;
  }
  FormulaPart conjunction() {
    FormulaPart left = negation();
    while (take("and")) left = call("and", std::move(left), negation(), "and");
    return left;
  }
  FormulaPart negation() {
    bool negates = false;
    while (take("not")) negates = !negates;
    FormulaPart part = comparison();
    return negates ? call("not", std::move(part), nullptr, "not")
                   : std::move(part);
  }

  FormulaPart comparison() {
    FormulaPart left = sum();
    const bool is_negated = is_next("not") && tokens_[at_ + 1].text == "in";
    if (is_negated) ++at_;
    if (take("in")) return members(std::move(left), is_negated);
    static constexpr std::array<std::pair<std::string_view, const char*>, 8>
        kOrders = {{{"==", "=="},
                    {"=", "=="},
                    {"!=", "!="},
                    {"<>", "!="},
                    {"<=", "<="},
                    {">=", ">="},
                    {"<", "<"},
                    {">", ">"}}};
    for (const auto& [sign, name] : kOrders)
      if (next().kind == Token::kSign && take(sign))
        return call(name, std::move(left), sum(), std::string(sign));
    return left;
  }

  FormulaPart members(FormulaPart left, bool is_negated) {
    std::vector<FormulaPart> all;
    all.push_back(std::move(left));
    if (!take("(")) fail("'(' behind in");
    list(all);
    FormulaPart part = call_part(find_operator("in"), std::move(all), "in");
    return is_negated ? call("not", std::move(part), nullptr, "not")
                      : std::move(part);
  }

  // Up to the closing parenthesis.
  void list(std::vector<FormulaPart>& to) {
    if (take(")")) return;
    do {
      to.push_back(disjunction());
    } while (take(","));
    if (!take(")")) fail("',' or ')'");
  }

  FormulaPart sum() {
    FormulaPart left = product();
    while (is_next("+") || is_next("-")) {
      const std::string sign = tokens_[at_++].text;
      FormulaPart right = product();
      constexpr auto kDate = ValueType::kDate;
      std::string name = sign;
      if (left->type() == kDate) {
        name = "date" + sign;
        // A value of the input is a date then, not a number of days.
        const bool is_days = right->type() == ValueType::kNumber;
        if (sign == "-" && !is_days) name = "date-date";
      } else if (sign == "-" && right->type() == kDate) {
        name = "date-date";
      }
      left = call(name, std::move(left), std::move(right), sign);
    }
    return left;
  }
  FormulaPart product() {
    FormulaPart left = signed_power();
    while (is_next("*") || is_next("/") || is_next("%")) {
      const std::string sign = tokens_[at_++].text;
      left = call(sign, std::move(left), signed_power(), sign);
    }
    return left;
  }
  // -2 ^ 2 is -(2 ^ 2).
  FormulaPart signed_power() {
    bool negates = false;
    for (; is_next("-") || is_next("+"); ++at_)
      if (is_next("-")) negates = !negates;
    FormulaPart part = power();
    return negates ? call("unary -", std::move(part), nullptr, "-")
                   : std::move(part);
  }
  FormulaPart power() {
    FormulaPart base = primary();
    if (!take("^")) return base;
    if (++depth_ > kMostDepth) bad_config("it has too many powers");
    FormulaPart exponent = signed_power();
    --depth_;
    return call("^", std::move(base), std::move(exponent), "^");
  }

  FormulaPart primary() {
    const Token token = next();
    switch (token.kind) {
      case Token::kNumber:
        ++at_;
        return number_part(token.number);
      case Token::kText:
        ++at_;
        return text_part(token.text);
      case Token::kColumn:
        ++at_;
        return column_part(columns_.need(token.text));
      case Token::kName:
        return named(token);
      default:
        break;
    }
    if (!take("(")) fail("a number, a name, a 'text' or '('");
    FormulaPart inside = disjunction();
    if (!take(")")) fail("')'");
    return inside;
  }

  FormulaPart named(const Token& token) {
    for (const std::string_view word : {"and", "or", "not", "in"})
      if (token.text == word) fail("a number, a name, a 'text' or '('");
    ++at_;
    if (!take("(")) {
      for (const bool truth : {false, true})
        if (token.text == (truth ? "true" : "false"))
          return call("==", number_part(truth ? 1 : 0), number_part(1), "true");
      return column_part(columns_.need(token.text));
    }
    std::vector<FormulaPart> arguments;
    list(arguments);
    if (is_pattern_function(token.text))
      return pattern_part(token.text, std::move(arguments));
    const FormulaFunction* function = find_function(token.text);
    if (function != nullptr)
      return call_part(*function, std::move(arguments), token.text);
    std::vector<std::string> names = {"matches", "extract"};
    for (const auto all : {formula_functions(), text_functions()})
      for (const FormulaFunction& known : all) names.emplace_back(known.name);
    const std::string near = nearest(token.text, names);
    bad_config("character " + std::to_string(token.place) +
               ": there is no function " + in_quotes(token.text) +
               (near.empty() ? "" : "; did you mean " + in_quotes(near) + "?"));
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  StepColumns& columns_;
};

}  // namespace

Formula::Formula(std::string_view text, StepColumns& columns)
    : root_(FormulaParser(text, columns).all()) {}

Formula::Formula(std::string_view text, StepColumns& columns, ValueType type)
    : root_(converted(FormulaParser(text, columns).all(), type,
                      std::string(text))) {}

void check_formula(std::string_view text) {
  StepColumns any;
  (void)FormulaParser(text, any).all();
}

}  // namespace dl::vectorize
