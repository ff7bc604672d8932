// The operators of formulas.

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/vectorize/steps/functions.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

constexpr auto kAnyType = ValueType::kAny;
constexpr auto kNumbers = ValueType::kNumber;
constexpr auto kTruths = ValueType::kTruth;
constexpr double kSecondsOfDay = 86400;

template <double (*kFunction)(double, double)>
Value of_two(const Arguments& arguments) {
  const Value a = arguments[0], b = arguments[1];
  return a.missing || b.missing
             ? Value()
             : Value::of_result(kFunction(a.number, b.number));
}

double sum(double a, double b) { return a + b; }
double difference(double a, double b) { return a - b; }
double product(double a, double b) { return a * b; }
double quotient(double a, double b) { return a / b; }
// A square, the most frequent one, is rounded once.
double power(double a, double b) { return b == 2 ? a * a : std::pow(a, b); }
// With the sign of b, as Python and pandas have it.
double remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double days_between(double a, double b) { return (a - b) / kSecondsOfDay; }
// Missing, not a number, beyond the years -9999 to 9999.
double days_after(double date, double days) {
  constexpr double kFirst = -377705116800, kLast = 253402300799;
  const double there = date + std::round(days * kSecondsOfDay);
  return there >= kFirst && there <= kLast
             ? there
             : std::numeric_limits<double>::quiet_NaN();
}
double days_before(double date, double days) { return days_after(date, -days); }

// -1, 0 or 1. Values of the input that are both numbers are compared as such.
int order_of(const Value& a, const Value& b, ValueType type) {
  double x = a.number, y = b.number;
  const bool are_numbers = (type != kAnyType && type != ValueType::kText) ||
                           (type == kAnyType && parse_number(trim(a.text), x) &&
                            parse_number(trim(b.text), y));
  if (are_numbers) return x < y ? -1 : x > y ? 1 : 0;
  return std::clamp(a.text.compare(b.text), -1, 1);
}

template <bool (*kHolds)(int)>
Value compared(const Arguments& arguments) {
  const Value a = arguments[0], b = arguments[1];
  if (a.missing || b.missing) return {};
  return Value::of_truth(kHolds(order_of(a, b, arguments.type(0))));
}

bool equal(int order) { return order == 0; }
bool unequal(int order) { return order != 0; }
bool less(int order) { return order < 0; }
bool less_or_equal(int order) { return order <= 0; }
bool greater(int order) { return order > 0; }
bool greater_or_equal(int order) { return order >= 0; }

// Three-valued, as SQL and pandas have it.
Value both(const Arguments& arguments) {
  const Value a = arguments[0];
  if (!a.missing && a.number == 0) return a;
  const Value b = arguments[1];
  if (!b.missing && b.number == 0) return b;
  return a.missing ? a : b;
}
Value any(const Arguments& arguments) {
  const Value a = arguments[0];
  if (!a.missing && a.number != 0) return a;
  const Value b = arguments[1];
  if (!b.missing && b.number != 0) return b;
  return a.missing ? a : b;
}
Value negated(const Arguments& arguments) {
  const Value a = arguments[0];
  return a.missing ? a : Value::of_truth(a.number == 0);
}
Value opposite(const Arguments& arguments) {
  const Value a = arguments[0];
  return a.missing ? a : Value::of_number(-a.number);
}
Value among(const Arguments& arguments) {
  const Value a = arguments[0];
  if (a.missing) return {};
  for (std::size_t i = 1; i < arguments.size(); ++i)
    if (const Value b = arguments[i];
        !b.missing && order_of(a, b, arguments.type(0)) == 0)
      return Value::of_truth(true);
  return Value::of_truth(false);
}

FormulaFunction two(std::string_view name, Value (*run)(const Arguments&)) {
  return {name, "", "", kNumbers, {kNumbers, kNumbers}, 2, false, run};
}
FormulaFunction comparison(std::string_view name,
                           Value (*run)(const Arguments&)) {
  return {name, "", "", kTruths, {kAnyType, kAnyType}, 2, false, run};
}

}  // namespace

const FormulaFunction& find_operator(std::string_view name) {
  constexpr auto kDates = ValueType::kDate;
  static const std::vector<FormulaFunction> kAll = {
      two("+", of_two<sum>),
      two("-", of_two<difference>),
      two("*", of_two<product>),
      two("/", of_two<quotient>),
      two("%", of_two<remainder>),
      two("^", of_two<power>),
      {"date-date",
       "",
       "",
       kNumbers,
       {kDates, kDates},
       2,
       false,
       of_two<days_between>},
      {"date+",
       "",
       "",
       kDates,
       {kDates, kNumbers},
       2,
       false,
       of_two<days_after>},
      {"date-",
       "",
       "",
       kDates,
       {kDates, kNumbers},
       2,
       false,
       of_two<days_before>},
      comparison("==", compared<equal>),
      comparison("!=", compared<unequal>),
      comparison("<", compared<less>),
      comparison("<=", compared<less_or_equal>),
      comparison(">", compared<greater>),
      comparison(">=", compared<greater_or_equal>),
      {"in", "", "", kTruths, {kAnyType}, 2, true, among},
      {"and", "", "", kTruths, {kTruths, kTruths}, 2, false, both},
      {"or", "", "", kTruths, {kTruths, kTruths}, 2, false, any},
      {"not", "", "", kTruths, {kTruths}, 1, false, negated},
      {"unary -", "", "", kNumbers, {kNumbers}, 1, false, opposite}};
  const auto found = std::ranges::find(kAll, name, &FormulaFunction::name);
  require(found != kAll.end(), "an operator that formulas do not have");
  return *found;
}

}  // namespace dl::vectorize
