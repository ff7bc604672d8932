#include "libcore/vectorize/datavec/arithmetic.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/steps/functions.h"

namespace dl::vectorize::datavec {

std::string math_op(const std::string& op, const std::string& a,
                    const std::string& b, bool of_integers) {
  const auto quotient = [&](const std::string& x, const std::string& y) {
    const std::string text = x + " / " + y;
    return of_integers ? "sign(" + text + ") * floor(abs(" + text + "))" : text;
  };
  if (op == "Add") return a + " + " + b;
  if (op == "Subtract") return a + " - " + b;
  if (op == "Multiply") return a + " * " + b;
  if (op == "Divide") return quotient(a, b);
  // Java's has the sign of the dividend.
  if (op == "Modulus")
    return "sign(" + a + ") * (abs(" + a + ") % abs(" + b + "))";
  if (op == "ReverseSubtract") return b + " - " + a;
  if (op == "ReverseDivide") return quotient(b, a);
  if (op == "ScalarMin") return "min(" + a + ", " + b + ")";
  if (op == "ScalarMax") return "max(" + a + ", " + b + ")";
  bad_data("there is no formula for the operation " + in_quotes(op));
}

std::string math_function(const std::string& function, const std::string& a) {
  std::string name = function == "SIGNUM" ? "sign" : function;
  for (char& c : name)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (find_function(name) == nullptr)
    bad_data("there is no formula for the function " + in_quotes(function));
  return name + "(" + a + ")";
}

std::string date_format(const std::string& format) {
  // A time of day with fractions may follow any date of ours.
  std::string joda = format;
  for (const std::string_view time :
       {" HH:mm:ss.SSS", "'T'HH:mm:ss.SSS", "'T'HH:mm:ss.SSSZ"})
    if (joda.ends_with(time)) joda.erase(joda.size() - time.size());
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14>
      kParts = {{{"YYYY", "%Y"},
                 {"yyyy", "%Y"},
                 {"YY", "%y"},
                 {"yy", "%y"},
                 {"MMM", "%b"},
                 {"MM", "%m"},
                 {"M", "%m"},
                 {"DDD", "%j"},
                 {"dd", "%d"},
                 {"d", "%d"},
                 {"HH", "%H"},
                 {"H", "%H"},
                 {"mm", "%M"},
                 {"ss", "%S"}}};
  std::string made;
  for (std::size_t at = 0; at < joda.size();) {
    const std::string_view rest = std::string_view(joda).substr(at);
    std::size_t run = 1;
    while (run < rest.size() && rest[run] == rest[0]) ++run;
    if (rest[0] == '\'') {
      const std::size_t end = std::min(rest.find('\'', 1), rest.size());
      made += rest.substr(1, end - 1);
      at += std::min(end + 1, rest.size());
      continue;
    }
    if (std::isalpha(static_cast<unsigned char>(rest[0])) == 0) {
      made += rest[0] == '%' ? "%%" : std::string(1, rest[0]);
      ++at;
      continue;
    }
    const auto* part = std::ranges::find(kParts, rest.substr(0, run),
                                         &decltype(kParts)::value_type::first);
    if (part == kParts.end())
      bad_data("there is no " + in_quotes(rest.substr(0, run)) +
               " in date formats of ours, as " + in_quotes(joda) + " has it");
    made += part->second;
    at += run;
  }
  return made;
}

double days_of(double quantity, const std::string& unit) {
  static constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"DAYS", 1},
       {"HOURS", 1.0 / 24},
       {"MINUTES", 1.0 / 1440},
       {"SECONDS", 1.0 / 86400},
       {"MILLISECONDS", 1.0 / 86400000}}};
  const auto* found =
      std::ranges::find(kUnits, unit, &decltype(kUnits)::value_type::first);
  if (found == kUnits.end())
    bad_data("there are no days of the unit " + in_quotes(unit));
  return quantity * found->second;
}

}  // namespace dl::vectorize::datavec
