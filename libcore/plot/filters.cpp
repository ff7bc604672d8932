// Drawing of filters.

#include "libcore/plot/filters.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcore/io/memory.h"
#include "libcore/io/png_write.h"

namespace dl::plot {
namespace {

constexpr std::int64_t kMostFilters = 64, kColumns = 16, kEnlarged = 48;

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

}  // namespace

std::string filters_image(const tensor::Shape& shape,
                          std::span<const float> weights) {
  if (shape.rank() != 4 || shape[1] < 2 || shape[2] < 2 || shape[1] > 64 ||
      shape[2] > 64)
    return {};
  const std::int64_t all = shape[0], height = shape[1], width = shape[2],
                     channels = shape[3], shown = channels == 3 ? 3 : 1;
  const std::int64_t n = std::min(all, kMostFilters);
  const std::int64_t columns = std::min(n, kColumns);
  const std::int64_t rows = (n + columns - 1) / columns;
  const std::int64_t wide = columns * (width + 1) - 1;
  const std::int64_t high = rows * (height + 1) - 1;
  std::vector<std::uint8_t> pixels(
      static_cast<std::size_t>(wide * high * shown), 128);
  const auto weight = [&](std::int64_t pixel, std::int64_t c, std::int64_t f) {
    return weights[static_cast<std::size_t>(
        (f * height * width + pixel) * channels + c)];
  };
  for (std::int64_t f = 0; f < n; ++f) {
    float low = weight(0, 0, f), top = low;
    for (std::int64_t p = 0; p < height * width; ++p)
      for (std::int64_t c = 0; c < shown; ++c) {
        low = std::min(low, weight(p, c, f));
        top = std::max(top, weight(p, c, f));
      }
    for (std::int64_t p = 0; p < height * width; ++p)
      for (std::int64_t c = 0; c < shown; ++c) {
        const std::int64_t y = f / columns * (height + 1) + p / width;
        const std::int64_t x = f % columns * (width + 1) + p % width;
        const float part =
            top > low ? (weight(p, c, f) - low) / (top - low) : 0;
        pixels[static_cast<std::size_t>((y * wide + x) * shown + c)] =
            static_cast<std::uint8_t>(std::lround(255 * part));
      }
  }
  std::vector<std::byte> png;
  const auto sink = io::memory_sink(png);
  io::write_png(*sink, wide, high, shown, pixels);
  sink->close();
  const std::int64_t factor = std::max<std::int64_t>(1, kEnlarged / width);
  return "<img alt=\"" + std::to_string(n) + " filters of " +
         std::to_string(height) + " by " + std::to_string(width) +
         "\" width=\"" + std::to_string(wide * factor) + "\" height=\"" +
         std::to_string(high * factor) + "\" src=\"data:image/png;base64," +
         base64(png) + "\">";
}

}  // namespace dl::plot
