#include "libcore/vectorize/source/thousands.h"

#include <algorithm>

namespace dl::vectorize {
namespace {

// A sign, digits and commas, and a point with digits behind it.
struct CommaNumber {
  std::string_view sign, whole, fraction;  // the last with its point
  bool is_one = false;
};

CommaNumber comma_number(std::string_view text) {
  constexpr std::size_t kLongestNumber = 64;
  CommaNumber parts;
  if (text.size() > kLongestNumber) return parts;
  const std::size_t sign = text.starts_with('-') || text.starts_with('+');
  parts.sign = text.substr(0, sign);
  const std::size_t point = std::min(text.find('.'), text.size());
  parts.whole = text.substr(sign, point - std::min(sign, point));
  parts.fraction = text.substr(point);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  parts.is_one =
      parts.whole.find(',') != std::string_view::npos &&
      is_digit(parts.whole.front()) && parts.fraction.size() != 1 &&
      std::ranges::all_of(parts.whole,
                          [&](char c) { return c == ',' || is_digit(c); }) &&
      std::ranges::all_of(parts.fraction.substr(parts.fraction.empty() ? 0 : 1),
                          is_digit);
  return parts;
}

// One to three digits, the first of them no 0, then groups of three.
bool are_groups(std::string_view whole) {
  constexpr std::size_t kGroupSize = 3;
  const std::size_t first = whole.find(',');
  if (whole.front() == '0' || first > kGroupSize ||
      (whole.size() - first) % (kGroupSize + 1) != 0)
    return false;
  for (std::size_t i = first; i < whole.size(); ++i)
    if ((whole[i] == ',') != ((i - first) % (kGroupSize + 1) == 0))
      return false;
  return true;
}

}  // namespace

std::string without_thousands(std::string_view text) {
  const CommaNumber number = comma_number(text);
  if (!number.is_one || !are_groups(number.whole)) return "";
  std::string made(number.sign);
  for (const char c : number.whole)
    if (c != ',') made += c;
  return made.append(number.fraction);
}

bool are_surely_thousands(std::string_view text) {
  const CommaNumber number = comma_number(text);
  return number.is_one && are_groups(number.whole) &&
         (!number.fraction.empty() ||
          std::ranges::count(number.whole, ',') > 1);
}

bool has_other_commas(std::string_view text) {
  const CommaNumber number = comma_number(text);
  return number.is_one && !are_groups(number.whole);
}

}  // namespace dl::vectorize
