// Functions of texts, in UTF-8, whose characters are counted.

#include <algorithm>
#include <cmath>
#include <cwctype>
#include <string>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/steps/functions.h"
#include "libcore/vectorize/steps/letters.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

constexpr auto kTextType = ValueType::kText;
constexpr auto kNumberType = ValueType::kNumber;
constexpr auto kTruthType = ValueType::kTruth;

bool is_inside(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !is_inside(c); }));
}

// The place of character i, or the end.
std::size_t place_of_character(std::string_view text, std::size_t i) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (!is_inside(text[at]) && i-- == 0) return at;
  return at;
}

std::string_view stripped(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\f\v";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

template <wint_t (*kChange)(wint_t)>
Value with_letters(const Arguments& arguments) {
  const Value text = arguments[0];
  if (text.missing) return text;
  std::string& made = arguments.scratch().next();
  change_letters(text.text, kChange, made);
  return Value::of_text(made);
}

// Steps of a model must not fill the memory.
constexpr std::size_t kLongestText = std::size_t{16} << 20;
void append_text(std::string_view part, std::string& to) {
  if (to.size() + part.size() > kLongestText)
    bad_data("a text of more than 16 MiB");
  to.append(part);
}

Value replaced(const Arguments& arguments) {
  const Value text = arguments[0], from = arguments[1], to = arguments[2];
  if (text.missing || from.missing) return text;
  std::string& made = arguments.scratch().next();
  std::string_view rest = text.text;
  for (std::size_t at = 0; (at = rest.find(from.text)) != rest.npos;) {
    append_text(rest.substr(0, at), made);
    append_text(to.text, made);
    rest.remove_prefix(at + from.text.size());
  }
  made.append(rest);
  return Value::of_text(made);
}

// As SQL's: from 1 on, and what lies before it counts in the length.
Value substring(const Arguments& arguments) {
  const Value text = arguments[0], from = arguments[1];
  const bool has_length = arguments.size() > 2;
  const Value length = has_length ? arguments[2] : Value::of_number(0);
  if (text.missing || from.missing || length.missing) return {};
  const double count = static_cast<double>(characters(text.text));
  const double begin = std::trunc(from.number) - 1;
  const double end = has_length ? begin + std::trunc(length.number) : count;
  const double first = std::clamp(begin, 0.0, count);
  const double last = std::clamp(end, first, count);
  const std::size_t at =
      place_of_character(text.text, static_cast<std::size_t>(first));
  const std::string_view rest = text.text.substr(at);
  return Value::of_text(rest.substr(
      0, place_of_character(rest, static_cast<std::size_t>(last - first))));
}

Value joined(const Arguments& arguments) {
  std::string& made = arguments.scratch().next();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Value part = arguments[i];
    if (part.missing) return {};
    append_text(text_of(part, arguments.type(i), arguments.scratch()), made);
  }
  return Value::of_text(made);
}

template <bool (*kHolds)(std::string_view, std::string_view)>
Value about_part(const Arguments& arguments) {
  const Value text = arguments[0], part = arguments[1];
  if (text.missing || part.missing) return {};
  return Value::of_truth(kHolds(text.text, part.text));
}
bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
bool begins(std::string_view text, std::string_view part) {
  return text.starts_with(part);
}
bool ends(std::string_view text, std::string_view part) {
  return text.ends_with(part);
}

std::vector<FormulaFunction> all_text_functions() {
  return {
      {"lower",
       "text",
       "in small letters",
       kTextType,
       {kTextType},
       1,
       false,
       with_letters<small_letter>},
      {"upper",
       "text",
       "in capital letters",
       kTextType,
       {kTextType},
       1,
       false,
       with_letters<capital_letter>},
      {"trim",
       "text",
       "without the blanks around it",
       kTextType,
       {kTextType},
       1,
       false,
       [](const Arguments& a) { return Value::of_text(stripped(a[0].text)); }},
      {"length",
       "text",
       "its characters",
       kNumberType,
       {kTextType},
       1,
       false,
       [](const Arguments& a) {
         const Value text = a[0];
         return text.missing ? text
                             : Value::of_number(
                                   static_cast<double>(characters(text.text)));
       }},
      {"replace",
       "text, from, to",
       "with *to* in place of each *from*",
       kTextType,
       {kTextType, kTextType, kTextType},
       3,
       false,
       replaced},
      {"substring",
       "text, from, length",
       "so many characters from the *from*-th on, the first of which is 1; or "
       "all the rest",
       kTextType,
       {kTextType, kNumberType, kNumberType},
       2,
       false,
       substring},
      {"concat",
       "a, b, ...",
       "one behind the other, of any types",
       kTextType,
       {},
       1,
       true,
       joined},
      {"contains",
       "text, part",
       "whether the part is in it",
       kTruthType,
       {kTextType, kTextType},
       2,
       false,
       about_part<has_part>},
      {"starts_with",
       "text, part",
       "whether it begins so",
       kTruthType,
       {kTextType, kTextType},
       2,
       false,
       about_part<begins>},
      {"ends_with",
       "text, part",
       "whether it ends so",
       kTruthType,
       {kTextType, kTextType},
       2,
       false,
       about_part<ends>},
      {"is_number",
       "text",
       "whether it is a number",
       kTruthType,
       {kTextType},
       1,
       false,
       [](const Arguments& a) {
         const Value text = a[0];
         double number = 0;
         return text.missing
                    ? text
                    : Value::of_truth(parse_number(trim(text.text), number) &&
                                      std::isfinite(number));
       }},
      {"text",
       "x",
       "a number, date or truth as a text",
       kTextType,
       {},
       1,
       false,
       joined}};
}

}  // namespace

std::span<const FormulaFunction> text_functions() {
  static const std::vector<FormulaFunction> kAll = all_text_functions();
  return kAll;
}

}  // namespace dl::vectorize
