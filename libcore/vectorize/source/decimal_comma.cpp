#include "libcore/vectorize/source/decimal_comma.h"

#include <algorithm>

#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

bool are_decimals(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Digits, in groups of three behind points where there are points.
bool is_whole(std::string_view text) {
  constexpr std::size_t kGroup = 3;
  const std::size_t first = std::min(text.find('.'), text.size());
  if (!are_decimals(text.substr(0, first))) return false;
  if (first < text.size() && first > kGroup) return false;
  for (std::size_t at = first; at < text.size(); at += kGroup + 1)
    if (text[at] != '.' || text.size() - at <= kGroup ||
        !are_decimals(text.substr(at + 1, kGroup)))
      return false;
  return true;
}

}  // namespace

std::string with_decimal_point(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  if (text.empty() || text.size() > kLongest) return "";
  const bool has_sign = text[0] == '-' || text[0] == '+';
  const std::string_view number = text.substr(has_sign ? 1 : 0);
  const std::size_t comma = std::min(number.find(','), number.size());
  const std::string_view whole = number.substr(0, comma);
  if (comma == number.size() && whole.find('.') == std::string_view::npos)
    return "";
  const std::string_view fraction =
      comma < number.size() ? number.substr(comma + 1) : "0";
  if (!is_whole(whole) || !are_decimals(fraction)) return "";
  std::string made(text.substr(0, has_sign ? 1 : 0));
  for (const char c : whole)
    if (c != '.') made += c;
  if (comma < number.size()) made.append(".").append(fraction);
  return made;
}

bool has_decimal_point(std::string_view text) {
  double value = 0;
  return text.find('.') != std::string_view::npos &&
         parse_number(text, value) && with_decimal_point(text).empty();
}

}  // namespace dl::vectorize
