// Hexadecimal text of numbers and bytes.

#include "libcore/io/hex.h"

#include <charconv>

#include "libcore/base/unique.h"

namespace dl::io {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string hex(std::uint64_t value) {
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value >>= 4)
    *digit = kDigits[value & 15];
  return text;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    text += kDigits[std::to_integer<unsigned>(b) >> 4];
    text += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

std::string random_digits() {
  return hex(unique_number()) + hex(unique_number());
}

std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, 16);
  if (digits.size() != 16 || error != std::errc{} || stop != end)
    return std::nullopt;
  return value;
}

std::optional<std::vector<std::byte>> parse_hex_bytes(std::string_view digits) {
  std::vector<std::byte> bytes;
  if (digits.size() % 2 != 0) return std::nullopt;
  for (const char* at = digits.data(); at != digits.data() + digits.size();
       at += 2) {
    unsigned value = 0;
    const auto [stop, error] = std::from_chars(at, at + 2, value, 16);
    if (error != std::errc{} || stop != at + 2) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

}  // namespace dl::io
