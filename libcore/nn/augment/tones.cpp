// Values one by one, most by a table of what becomes of each.

#include "libcore/nn/augment/tones.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/base/error.h"

namespace dl::nn::augment {
namespace {

using Table = std::array<std::uint8_t, 256>;

// As Pillow blends, from `base` to `value` and beyond.
std::uint8_t blended(int base, int value, float factor) {
  const float sum =
      static_cast<float>(base) + factor * static_cast<float>(value - base);
  return static_cast<std::uint8_t>(std::clamp(sum, 0.0F, 255.0F));
}

template <typename Function>
Table table_of(const Function& function) {
  Table table;
  for (int i = 0; i < 256; ++i)
    table[static_cast<std::size_t>(i)] = function(i);
  return table;
}

void map_values(const Picture& picture, const Table& table) {
  for (std::uint8_t& value : picture.all()) value = table[value];
}

// The weights of red, green and blue, as Pillow has them.
std::uint8_t grey_of(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>(
      (rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16);
}

// Each value of a channel by a table that follows from their frequencies.
template <typename Function>
void map_channels(const Picture& picture, const Function& function) {
  const auto channels = static_cast<std::size_t>(picture.channels);
  const auto values = picture.all();
  for (std::size_t c = 0; c < channels; ++c) {
    std::array<std::int64_t, 256> counts{};
    for (std::size_t i = c; i < values.size(); i += channels)
      ++counts[values[i]];
    const Table table = function(counts);
    for (std::size_t i = c; i < values.size(); i += channels)
      values[i] = table[values[i]];
  }
}

// What a hue of 0..255 says of the channels: which of six parts of the circle
// it is in, and how far.
struct Part {
  int number;
  float within;
};
const std::array<Part, 256>& parts_of_circle() {
  static const std::array<Part, 256> parts = [] {
    std::array<Part, 256> all{};
    for (int h = 0; h < 256; ++h) {
      const double place = static_cast<float>(h) * 6.0 / 255.0;
      const int number = static_cast<int>(std::floor(place));
      all[static_cast<std::size_t>(h)] = {
          number % 6, static_cast<float>(place - static_cast<float>(number))};
    }
    return all;
  }();
  return parts;
}

// Hue and saturation in bytes, as Pillow has them; the value is the largest.
std::pair<std::uint8_t, std::uint8_t> hue_of(int r, int g, int b, int most,
                                             int least) {
  const auto range = static_cast<float>(most - least);
  const float saturation = range / static_cast<float>(most);
  const float red = static_cast<float>(most - r) / range,
              green = static_cast<float>(most - g) / range,
              blue = static_cast<float>(most - b) / range;
  const auto h = static_cast<float>(r == most   ? blue - green
                                    : g == most ? 2.0 + red - blue
                                                : 4.0 + green - red);
  double turns = h / 6.0 + 1.0;
  if (turns >= 1) turns -= 1;
  return {static_cast<std::uint8_t>(static_cast<float>(turns) * 255.0),
          static_cast<std::uint8_t>(saturation * 255.0)};
}

void color_of(std::uint8_t* rgb, std::uint8_t hue, std::uint8_t saturation,
              std::uint8_t value) {
  const auto [number, within] = parts_of_circle()[hue];
  const float share = static_cast<float>(saturation) / 255.0F;
  const double v = value;
  const auto rounded = [](double x) {
    return static_cast<std::uint8_t>(x + 0.5);
  };
  const std::uint8_t p = rounded(v * (1.0 - share)),
                     q = rounded(v * (1.0 - share * within)),
                     t = rounded(v * (1.0 - share * (1.0 - within)));
  const std::uint8_t colors[6][3] = {{value, t, p}, {q, value, p},
                                     {p, value, t}, {p, q, value},
                                     {t, p, value}, {value, p, q}};
  std::copy_n(colors[number], 3, rgb);
}

}  // namespace

void adjust_brightness(const Picture& picture, double factor) {
  const auto f = static_cast<float>(factor);
  map_values(picture, table_of([&](int i) { return blended(0, i, f); }));
}

void adjust_contrast(const Picture& picture, double factor) {
  std::int64_t sum = 0, count = 0;
  const auto values = picture.all();
  if (picture.channels == 3) {
    for (std::size_t i = 0; i < values.size(); i += 3)
      sum += grey_of(values.data() + i);
    count = static_cast<std::int64_t>(values.size() / 3);
  } else {
    for (const std::uint8_t value : values) sum += value;
    count = static_cast<std::int64_t>(values.size());
  }
  const int mean = static_cast<int>(
      static_cast<double>(sum) / static_cast<double>(count) + 0.5);
  const auto f = static_cast<float>(factor);
  map_values(picture, table_of([&](int i) { return blended(mean, i, f); }));
}

void adjust_saturation(const Picture& picture, double factor) {
  if (picture.channels != 3) return;
  const auto f = static_cast<float>(factor);
  const auto values = picture.all();
  for (std::size_t i = 0; i < values.size(); i += 3) {
    std::uint8_t* rgb = values.data() + i;
    const int grey = grey_of(rgb);
    for (int c = 0; c < 3; ++c) rgb[c] = blended(grey, rgb[c], f);
  }
}

// Pixels at the edge stay as they are.
void adjust_sharpness(Canvas& canvas, double factor) {
  const Picture &from = canvas.picture(), &to = canvas.next();
  const std::int64_t side = from.channels, down = from.stride();
  const auto f = static_cast<float>(factor);
  std::copy_n(from.at, from.bytes(), to.at);
  for (std::int64_t y = 1; y + 1 < from.height; ++y)
    for (std::int64_t i = side; i < down - side; ++i) {
      const std::uint8_t* p = from.row(y) + i;
      const int around = p[-down - side] + p[-down] + p[-down + side] +
                         p[-side] + p[side] + p[down - side] + p[down] +
                         p[down + side];
      const int smooth = (2 * (around + 5 * p[0]) + 13) / 26;
      to.row(y)[i] = blended(smooth, p[0], f);
    }
  canvas.turn();
}

void adjust_hue(const Picture& picture, double turn) {
  if (picture.channels != 3) return;
  const auto shift =
      static_cast<std::uint8_t>(static_cast<int>(turn * 255) & 255);
  const auto values = picture.all();
  for (std::size_t i = 0; i < values.size(); i += 3) {
    std::uint8_t* rgb = values.data() + i;
    const int r = rgb[0], g = rgb[1], b = rgb[2];
    const int most = std::max({r, g, b}), least = std::min({r, g, b});
    if (most == least) continue;  // grey
    const auto [hue, saturation] = hue_of(r, g, b, most, least);
    if (saturation == 0)
      rgb[0] = rgb[1] = rgb[2] = static_cast<std::uint8_t>(most);
    else
      color_of(rgb, static_cast<std::uint8_t>(hue + shift), saturation,
               static_cast<std::uint8_t>(most));
  }
}

void make_grey(const Picture& picture) {
  if (picture.channels != 3) return;
  const auto values = picture.all();
  for (std::size_t i = 0; i < values.size(); i += 3)
    values[i] = values[i + 1] = values[i + 2] = grey_of(values.data() + i);
}

void invert_values(const Picture& picture) {
  for (std::uint8_t& value : picture.all())
    value = static_cast<std::uint8_t>(255 - value);
}

void keep_bits(const Picture& picture, int bits) {
  const auto mask = static_cast<std::uint8_t>(0xFF << (8 - bits));
  for (std::uint8_t& value : picture.all()) value &= mask;
}

void invert_from(const Picture& picture, double threshold) {
  map_values(picture, table_of([&](int i) {
               return static_cast<std::uint8_t>(i < threshold ? i : 255 - i);
             }));
}

void stretch_contrast(const Picture& picture) {
  map_channels(picture, [](const std::array<std::int64_t, 256>& counts) {
    int low = 0, high = 255;
    while (low < 255 && counts[static_cast<std::size_t>(low)] == 0) ++low;
    while (high > 0 && counts[static_cast<std::size_t>(high)] == 0) --high;
    if (high <= low)
      return table_of([](int i) { return static_cast<std::uint8_t>(i); });
    const double scale = 255.0 / (high - low), offset = -low * scale;
    return table_of([&](int i) {
      return static_cast<std::uint8_t>(
          std::clamp(static_cast<int>(i * scale + offset), 0, 255));
    });
  });
}

void spread_values(const Picture& picture) {
  map_channels(picture, [](const std::array<std::int64_t, 256>& counts) {
    std::int64_t all = 0, last = 0;
    for (const std::int64_t count : counts) {
      all += count;
      if (count > 0) last = count;
    }
    const std::int64_t step = (all - last) / 255;
    std::int64_t n = step / 2;
    return table_of([&](int i) {
      if (step == 0) return static_cast<std::uint8_t>(i);
      const std::int64_t value = n / step;
      n += counts[static_cast<std::size_t>(i)];
      return static_cast<std::uint8_t>(std::min<std::int64_t>(value, 255));
    });
  });
}

}  // namespace dl::nn::augment
