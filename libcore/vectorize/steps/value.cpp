#include "libcore/vectorize/steps/value.h"

#include <array>
#include <cmath>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/table/dates.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

std::string_view name_of(ValueType type) {
  switch (type) {
    case ValueType::kAny:
      return "a value of the input";
    case ValueType::kNumber:
      return "a number";
    case ValueType::kText:
      return "a text";
    case ValueType::kTruth:
      return "true or false";
    case ValueType::kDate:
      return "a date";
  }
  return "";
}

Value Value::of_result(double number) {
  return std::isfinite(number) ? of_number(number) : Value();
}

Value value_of(std::string_view text, ValueType type) {
  static const DateFormat kIsoDate(DateFormat::kIso);
  if (type == ValueType::kAny || type == ValueType::kText)
    return Value::of_text(text);
  text = trim(text);
  if (text.empty()) return {};
  double number = 0;
  switch (type) {
    case ValueType::kNumber:
      if (parse_number(text, number) || parse_truth(text, number)) {
        // An infinite one is an error, as the number of a vectorizer is.
        if (std::isnan(number)) return {};
        if (!std::isinf(number)) return Value::of_number(number);
        bad_data("want a finite number, got " + in_quotes(clipped(text)));
      }
      break;
    case ValueType::kTruth:
      if (parse_truth(text, number) ||
          (parse_number(text, number) && (number == 0 || number == 1)))
        return Value::of_number(number);
      break;
    default:
      if (const auto time = kIsoDate.parse(text))
        return Value::of_number(static_cast<double>(*time));
  }
  bad_data("want " + std::string(name_of(type)) +
           (type == ValueType::kDate ? ", as 2024-12-31" : "") + ", got " +
           in_quotes(clipped(text)));
}

std::string_view text_of(const Value& value, ValueType type, Scratch& scratch) {
  if (value.missing) return {};
  if (type == ValueType::kAny || type == ValueType::kText) return value.text;
  if (type == ValueType::kTruth) return value.number != 0 ? "true" : "false";
  std::string& text = scratch.next();
  if (type == ValueType::kDate) {
    text = date_text(static_cast<Seconds>(std::floor(value.number)));
    return text;
  }
  std::array<char, 32> digits;
  text = number_text(value.number, digits);
  return text;
}

}  // namespace dl::vectorize
