// Escaping of control characters for terminals.

#include "libcore/base/display.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace dl {
namespace {

// C0 and DEL, and C1, which has a command to terminals of one character.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return character.size() == 2 && first == 0xc2 &&
         static_cast<unsigned char>(character[1]) < 0xa0;
}

void append_escaped(std::string& out, char byte) {
  constexpr std::string_view kNamed = "\a\b\t\n\v\f\r";
  constexpr std::string_view kLetters = "abtnvfr", kDigits = "0123456789abcdef";
  out += '\\';
  if (const auto at = kNamed.find(byte); at != std::string_view::npos) {
    out += kLetters[at];
    return;
  }
  const auto value = static_cast<unsigned char>(byte);
  out += 'x';
  out += kDigits[value >> 4];
  out += kDigits[value & 15];
}

std::string escaped(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view next =
        text.substr(0, std::max<std::size_t>(length, 1));
    if (length > 0 && (!is_control(next) || (keep_lines && next == "\n")))
      out += next;
    else
      for (const char byte : next) append_escaped(out, byte);
    text.remove_prefix(next.size());
  }
  return out;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >> 5 == 0x06   ? 2
                             : lead >> 4 == 0x0e ? 3
                             : lead >> 3 == 0x1e ? 4
                                                 : 0;
  if (length == 0 || text.size() < length) return 0;
  std::uint32_t point = lead & (0x7f >> length);
  for (const char c : text.substr(1, length - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >> 6 != 2) return 0;
    point = point << 6 | (byte & 0x3f);
  }
  // No longer spelling of a shorter one, no half of a UTF-16 pair.
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool good =
      point >= kLeast[length] && point <= 0x10ffff && point >> 11 != 0x1b;
  return good ? length : 0;
}

bool is_utf8(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  while (!text.empty()) {
    // Letters of ASCII, eight at once.
    std::uint64_t eight = 0;
    if (text.size() >= sizeof eight) {
      std::memcpy(&eight, text.data(), sizeof eight);
      if ((eight & kHighBits) == 0) {
        text.remove_prefix(sizeof eight);
        continue;
      }
      if constexpr (std::endian::native == std::endian::little)
        text.remove_prefix(
            static_cast<std::size_t>(std::countr_zero(eight & kHighBits)) / 8);
    }
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string displayed(std::string_view text) { return escaped(text, false); }

std::string clipped(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::size_t end = 0;  // no character is cut
  while (end < text.size()) {
    const std::size_t next =
        end + std::max<std::size_t>(1, utf8_length(text.substr(end)));
    if (next > kMost) break;
    end = next;
  }
  return displayed(text.substr(0, end)) + (end < text.size() ? "..." : "");
}

std::string in_quotes(std::string_view text) {
  return "'" + displayed(text) + "'";
}

std::string displayed_lines(std::string_view text) {
  return escaped(text, true);
}

}  // namespace dl
