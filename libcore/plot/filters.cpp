// Drawing of filters.

#include "libcore/plot/filters.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcore/io/memory.h"
#include "libcore/io/png_write.h"
#include "libcore/nn/layout.h"
#include "libcore/plot/base64.h"

namespace dl::plot {
namespace {

constexpr std::int64_t kMostFilters = 64, kColumns = 16, kEnlarged = 48;

}  // namespace

std::optional<FilterPicture> draw_filters(const tensor::Shape& shape,
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
  FilterPicture picture{{}, n, width, height, wide, high, shown, {}};
  const auto sink = io::memory_sink(picture.png);
  io::write_png(*sink, wide, high, shown, pixels);
  sink->close();
  return picture;
}

std::optional<FilterPicture> filters_of(const nn::Model& model) {
  for (const nn::Segment& segment : nn::layout_of(model.config).parameters) {
    if (segment.shape.rank() < 2 || segment.elements() == 0) continue;
    auto picture = draw_filters(
        segment.shape,
        model.weights().subspan(static_cast<std::size_t>(segment.offset),
                                static_cast<std::size_t>(segment.elements())));
    if (picture) picture->name = segment.name;
    return picture;
  }
  return std::nullopt;
}

std::string to_image(const FilterPicture& picture, const char* of) {
  const std::int64_t factor =
      std::max<std::int64_t>(1, kEnlarged / picture.filter_width);
  return "<img alt=\"" + std::to_string(picture.filters) + " " + of + " of " +
         std::to_string(picture.filter_height) + " by " +
         std::to_string(picture.filter_width) + "\" width=\"" +
         std::to_string(picture.width * factor) + "\" height=\"" +
         std::to_string(picture.height * factor) +
         "\" src=\"data:image/png;base64," + base64(picture.png) + "\">";
}

}  // namespace dl::plot
