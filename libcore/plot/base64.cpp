#include "libcore/plot/base64.h"

#include <algorithm>
#include <cstdint>

namespace dl::plot {

std::string base64(std::span<const std::byte> bytes) {
  static const char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8U |
              (k < n ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= n ? kDigits[three >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

}  // namespace dl::plot
