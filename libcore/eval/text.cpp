// Formatting of numbers and tables.

#include "libcore/eval/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "libcore/base/display.h"

namespace dl::eval {
namespace {

// Code points: what takes a column on most terminals.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

template <typename Real, typename... Format>
std::string spell(Real value, Format... format) {
  char text[400];
  const auto end = std::to_chars(text, text + sizeof text, value, format...);
  return {text, end.ptr};
}

}  // namespace

std::string shortest(double value) {
  return std::isnan(value) ? "nan" : spell(value);
}

std::string shortest(float value) {
  return std::isnan(value) ? "nan" : spell(value);
}

std::string readable(double value) {
  if (std::isnan(value)) return "-";
  const double size = std::fabs(value);
  if (size != 0 && (size < 0.001 || size >= 1e9))
    return spell(value, std::chars_format::scientific, 3);
  return spell(value, std::chars_format::fixed, 4);
}

void print(std::ostream& out, Table table) {
  for (auto& row : table)
    for (std::string& cell : row) cell = displayed(cell);
  std::vector<std::size_t> widths;
  for (const auto& row : table) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width(row[i]));
  }
  for (const auto& row : table) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width(row[i]), ' ');
      line += i == 0 ? row[i] + pad : "  " + pad + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

}  // namespace dl::eval
