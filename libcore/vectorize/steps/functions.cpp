// Functions of numbers, truths and dates.

#include "libcore/vectorize/steps/functions.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/vectorize/table/dates.h"

namespace dl::vectorize {
namespace {

constexpr auto kAny = ValueType::kAny;
constexpr auto kOfNumbers = ValueType::kNumber;
constexpr auto kTruth = ValueType::kTruth;
constexpr auto kDate = ValueType::kDate;

// A function of one number.
template <double (*kFunction)(double)>
Value of_one(const Arguments& arguments) {
  const Value x = arguments[0];
  return x.missing ? x : Value::of_result(kFunction(x.number));
}
template <double (*kFunction)(double)>
FormulaFunction one(std::string_view name, std::string_view words) {
  return {name,         "x", words, kOfNumbers,
          {kOfNumbers}, 1,   false, of_one<kFunction>};
}

double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

template <std::int64_t CivilTime::*kPart>
Value part_of_date(const Arguments& arguments) {
  const Value date = arguments[0];
  if (date.missing) return date;
  const auto seconds = static_cast<Seconds>(std::floor(date.number));
  return Value::of_number(static_cast<double>(civil_time(seconds).*kPart));
}
template <std::int64_t CivilTime::*kPart>
FormulaFunction part(std::string_view name, std::string_view words) {
  return {name,    "date", words, kOfNumbers,
          {kDate}, 1,      false, part_of_date<kPart>};
}

// Half to even, as NumPy and R round.
Value rounded(const Arguments& arguments) {
  const Value x = arguments[0];
  const Value digits =
      arguments.size() > 1 ? arguments[1] : Value::of_number(0);
  if (x.missing || digits.missing) return {};
  if (digits.number == 0) return Value::of_result(std::nearbyint(x.number));
  const double scale = std::pow(10.0, std::abs(std::trunc(digits.number)));
  return Value::of_result(digits.number > 0
                              ? std::nearbyint(x.number * scale) / scale
                              : std::nearbyint(x.number / scale) * scale);
}

template <bool kLargest>
Value extreme(const Arguments& arguments) {
  Value best;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Value x = arguments[i];
    if (x.missing) continue;
    if (best.missing ||
        (kLargest ? x.number > best.number : x.number < best.number))
      best = x;
  }
  return best;
}

Value either(const Arguments& arguments) {
  const Value condition = arguments[0];
  return arguments[!condition.missing && condition.number != 0 ? 1 : 2];
}

Value first_there(const Arguments& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (Value x = arguments[i]; !x.missing) return x;
  return {};
}

std::vector<FormulaFunction> all_functions() {
  return {
      {"if",
       "condition, a, b",
       "*a* where the condition is true, else *b*, also where it is missing",
       kAny,
       {kTruth, kAny, kAny},
       3,
       false,
       either},
      {"is_missing",
       "x",
       "whether it is missing",
       kTruth,
       {kAny},
       1,
       false,
       [](const Arguments& a) { return Value::of_truth(a[0].missing); }},
      {"coalesce",
       "a, b, ...",
       "the first that is not missing",
       kAny,
       {kAny},
       1,
       true,
       first_there},
      {"min",
       "a, b, ...",
       "the least number, or date; missing ones are passed over",
       kAny,
       {kAny},
       1,
       true,
       extreme<false>},
      {"max",
       "a, b, ...",
       "the greatest",
       kAny,
       {kAny},
       1,
       true,
       extreme<true>},
      one<std::fabs>("abs", "without its sign"),
      one<sign_of>("sign", "1, 0 or -1"),
      one<std::sqrt>("sqrt", "the square root"),
      one<std::exp>("exp", "e to the power of it"),
      one<std::log>("log", "the natural logarithm"),
      one<std::log10>("log10", "the logarithm to base 10"),
      one<std::log2>("log2", "the logarithm to base 2"),
      one<std::floor>("floor", "rounded down"),
      one<std::ceil>("ceil", "rounded up"),
      {"round",
       "x, digits",
       "rounded to so many digits behind the point, 0 by default, half to "
       "even",
       kOfNumbers,
       {kOfNumbers, kOfNumbers},
       1,
       false,
       rounded},
      one<std::sin>("sin", "the sine"),
      one<std::cos>("cos", "the cosine"),
      one<std::tan>("tan", "the tangent"),
      one<std::asin>("asin", "the arc sine"),
      one<std::acos>("acos", "the arc cosine"),
      one<std::atan>("atan", "the arc tangent"),
      one<std::sinh>("sinh", "the hyperbolic sine"),
      one<std::cosh>("cosh", "the hyperbolic cosine"),
      one<std::tanh>("tanh", "the hyperbolic tangent"),
      part<&CivilTime::year>("year", "the year of a date"),
      part<&CivilTime::month>("month", "1-12"),
      part<&CivilTime::day>("day", "1-31"),
      part<&CivilTime::yearday>("yearday", "1-366"),
      part<&CivilTime::weekday>("weekday", "0-6 from Monday on"),
      part<&CivilTime::hour>("hour", "0-23"),
      part<&CivilTime::minute>("minute", "0-59"),
      part<&CivilTime::second>("second", "0-59"),
      {"date",
       "x",
       "any text as 2024-12-31, as a date; missing of an empty one, and "
       "another makes the record bad, as *cast* does",
       kDate,
       {kDate},
       1,
       false,
       [](const Arguments& a) { return a[0]; }},
      {"number",
       "x",
       "any text as a number, missing of an empty one; another makes the "
       "record bad, as *cast* does; true is 1, false 0",
       kOfNumbers,
       {kOfNumbers},
       1,
       false,
       [](const Arguments& a) { return a[0]; }}};
}

}  // namespace

std::span<const FormulaFunction> formula_functions() {
  static const std::vector<FormulaFunction> kAll = all_functions();
  return kAll;
}

const FormulaFunction* find_function(std::string_view name) {
  for (const auto all : {formula_functions(), text_functions()}) {
    const auto found = std::ranges::find(all, name, &FormulaFunction::name);
    if (found != all.end()) return &*found;
  }
  return nullptr;
}

}  // namespace dl::vectorize
