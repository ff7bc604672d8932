// Escaping, and numbers for people.

#include "libcore/plot/markup.h"

#include <cmath>

#include "libcore/base/display.h"
#include "libcore/base/number_format.h"

namespace dl::plot {

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : displayed(text)) switch (c) {
      case '<':
        all += "&lt;";
        break;
      case '>':
        all += "&gt;";
        break;
      case '&':
        all += "&amp;";
        break;
      case '"':
        all += "&quot;";
        break;
      case '\'':
        all += "&#39;";
        break;
      default:
        all += c;
    }
  return all;
}

std::string escaped(std::string_view text, std::size_t most) {
  if (text.size() <= most) return escaped(text);
  // Not within a character.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U)
    --most;
  return escaped(text.substr(0, most)) + "…";
}

std::string json_in_html(const Json& value) {
  std::string all;
  for (const char c : dump_json(value))
    if (c == '<')
      all += "\\u003c";
    else
      all += c;
  return all;
}

std::string readable_number(double value) {
  if (!std::isfinite(value)) return "–";
  if (value == std::round(value) && std::abs(value) < 1e7)
    return format("%.0f", value);
  return format("%.4g", value);
}

std::string grouped(double count) {
  std::string text = format("%.0f", count);
  if (!std::isfinite(count) || std::abs(count) > 1e15) return text;
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, "\u2009");
  return text;
}

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit < 4; ++unit) bytes /= 1000;
  return format("%.3g", bytes) + " " + units[unit];
}

std::string duration_text(double seconds) {
  if (seconds < 120) return format("%.3g s", seconds);
  if (seconds < 7200) return format("%.3g min", seconds / 60);
  return format("%.3g h", seconds / 3600);
}

}  // namespace dl::plot
