// Percent signs and ampersands.

#include "libcore/plot/live/web_target.h"

#include "libcore/io/hex.h"

namespace dl::plot {
namespace {

std::string decoded(std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = text[i] == '%' && i + 2 < text.size()
                          ? io::parse_hex_bytes(text.substr(i + 1, 2))
                          : std::nullopt;
    if (byte) i += 2;
    all += byte             ? static_cast<char>(byte->front())
           : text[i] == '+' ? ' '
                            : text[i];
  }
  return all;
}

}  // namespace

std::vector<std::string> WebTarget::values(std::string_view key) const {
  std::vector<std::string> all;
  for (const auto& [name, value] : query)
    if (name == key) all.push_back(value);
  return all;
}

WebTarget parse_web_target(std::string_view target) {
  const std::size_t mark = target.find('?');
  WebTarget result{decoded(target.substr(0, mark)), {}};
  if (mark == std::string_view::npos) return result;
  std::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('&'));
    const std::size_t equals = part.find('=');
    result.query.emplace_back(decoded(part.substr(0, equals)),
                              equals == std::string_view::npos
                                  ? std::string()
                                  : decoded(part.substr(equals + 1)));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return result;
}

std::string in_query(std::string_view value) {
  std::string all;
  for (const char c : value) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                       c == '_';
    const auto byte = static_cast<std::byte>(c);
    all += plain ? std::string(1, c) : "%" + io::hex({&byte, 1});
  }
  return all;
}

}  // namespace dl::plot
