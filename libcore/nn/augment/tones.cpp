// Values one by one, most by a table of what becomes of each.

#include "libcore/nn/augment/tones.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/nn/augment/pixels.h"

namespace dl::nn::augment {
namespace {

// Cutting off after adding it rounds numbers from 0 on, as Pillow does.
constexpr double kToNearest = 0.5;

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

DL_WIDE_LOOP void blend_with(std::uint8_t* values, std::size_t n, int base,
                             float factor) {
  for (std::size_t i = 0; i < n; ++i)
    values[i] = blended(base, values[i], factor);
}

DL_WIDE_LOOP void invert_values_from(std::uint8_t* values, std::size_t n,
                                     int threshold) {
  for (std::size_t i = 0; i < n; ++i) {
    const int value = values[i];
    values[i] =
        static_cast<std::uint8_t>(value < threshold ? value : 255 - value);
  }
}

DL_WIDE_LOOP void blend_with_grey(std::uint8_t* rgb, std::size_t pixels,
                                  float factor) {
  for (std::size_t i = 0; i < pixels; ++i) {
    std::uint8_t* p = rgb + 3 * i;
    const int grey = grey_of(p);
    const std::uint8_t r = blended(grey, p[0], factor),
                       g = blended(grey, p[1], factor),
                       b = blended(grey, p[2], factor);
    p[0] = r;
    p[1] = g;
    p[2] = b;
  }
}

DL_WIDE_LOOP void blend_rows(std::uint8_t* __restrict out,
                             const std::uint8_t* above, const std::uint8_t* own,
                             const std::uint8_t* below, std::size_t begin,
                             std::size_t end, std::size_t side, float factor) {
  for (std::size_t i = begin; i < end; ++i) {
    const int sum = above[i - side] + above[i] + above[i + side] +
                    own[i - side] + 5 * own[i] + own[i + side] +
                    below[i - side] + below[i] + below[i + side];
    // sum / 13, rounded: exact for sums of bytes.
    const int smooth = ((2 * sum + 13) * 20165) >> 19;
    out[i] = blended(smooth, own[i], factor);
  }
}

DL_WIDE_LOOP std::int64_t sum_of_grey(const std::uint8_t* rgb,
                                      std::size_t pixels) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < pixels; ++i) sum += grey_of(rgb + 3 * i);
  return sum;
}

DL_WIDE_LOOP void fill_with_grey(std::uint8_t* rgb, std::size_t pixels) {
  for (std::size_t i = 0; i < pixels; ++i) {
    std::uint8_t* p = rgb + 3 * i;
    p[0] = p[1] = p[2] = grey_of(p);
  }
}

// Pixels on their way through hue, saturation and value, in the types that
// Pillow has for each number.
constexpr std::size_t kBlock = 64;
struct Colors {
  std::array<float, kBlock> r, g, b, most, hue, saturation;
};

DL_WIDE_LOOP void take_block(Colors& c, const std::uint8_t* rgb) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    c.r[i] = rgb[3 * i];
    c.g[i] = rgb[3 * i + 1];
    c.b[i] = rgb[3 * i + 2];
  }
}

DL_WIDE_LOOP void put_block(std::uint8_t* rgb, const Colors& c) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    rgb[3 * i] = static_cast<std::uint8_t>(static_cast<int>(c.r[i]));
    rgb[3 * i + 1] = static_cast<std::uint8_t>(static_cast<int>(c.g[i]));
    rgb[3 * i + 2] = static_cast<std::uint8_t>(static_cast<int>(c.b[i]));
  }
}

// Bytes of hue and saturation.
DL_WIDE_LOOP void to_hues(Colors& c) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float r = c.r[i], g = c.g[i], b = c.b[i];
    const float most = std::max(r, std::max(g, b)),
                least = std::min(r, std::min(g, b));
    const float range = most > least ? most - least : 1;
    const float red = (most - r) / range, green = (most - g) / range,
                blue = (most - b) / range;
    // In double, as 2.0 + red - blue is there.
    const double of_red = blue - green,
                 of_green = 2.0 + static_cast<double>(red) - blue,
                 of_blue = 4.0 + static_cast<double>(green) - red;
    const auto h = static_cast<float>(
        r == most ? of_red : (g == most ? of_green : of_blue));
    const double turns = h / 6.0 + 1.0;
    const auto turn = static_cast<float>(turns >= 1 ? turns - 1 : turns);
    const float saturation = most > least ? range / most : 0;
    c.most[i] = most;
    c.hue[i] = static_cast<float>(static_cast<int>(turn * 255.0));
    c.saturation[i] = static_cast<float>(static_cast<int>(saturation * 255.0));
  }
}

DL_WIDE_LOOP void to_colors(Colors& c, int shift) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const auto hue =
        static_cast<float>((static_cast<int>(c.hue[i]) + shift) & 255);
    const double place = hue * 6.0 / 255.0;
    const int whole = static_cast<int>(place);
    const auto within = static_cast<float>(place - whole);
    const int part = whole == 6 ? 0 : whole;
    const auto share = static_cast<float>(c.saturation[i] / 255.0);
    const float v = c.most[i];
    const auto rounded = [](double x) {
      return static_cast<float>(static_cast<int>(x + kToNearest));
    };
    const float p = rounded(v * (1.0 - share)),
                q = rounded(v * (1.0 - share * within)),
                t = rounded(v * (1.0 - share * (1.0 - within)));
    // Each is one of four; sums of products are free of branches.
    const auto in = [&](int number) { return part == number ? 1.0F : 0.0F; };
    const float in0 = in(0), in1 = in(1), in2 = in(2), in3 = in(3), in4 = in(4),
                in5 = in(5);
    c.r[i] = (in0 + in5) * v + in1 * q + (in2 + in3) * p + in4 * t;
    c.g[i] = (in1 + in2) * v + in3 * q + (in4 + in5) * p + in0 * t;
    c.b[i] = (in3 + in4) * v + in5 * q + (in0 + in1) * p + in2 * t;
  }
}

}  // namespace

void adjust_brightness(const Picture& picture, double factor) {
  blend_with(picture.at, picture.bytes(), 0, static_cast<float>(factor));
}

void adjust_contrast(const Picture& picture, double factor) {
  constexpr std::size_t kSummed = 3 << 20;  // whose sum has 32 bits
  std::int64_t sum = 0, count = 0;
  const auto values = picture.all();
  if (picture.channels == 3) {
    for (std::size_t at = 0; at < values.size(); at += kSummed) {
      const std::size_t n = std::min(kSummed, values.size() - at);
      sum += sum_of_grey(values.data() + at, n / 3);
    }
    count = static_cast<std::int64_t>(values.size() / 3);
  } else {
    for (const std::uint8_t value : values) sum += value;
    count = static_cast<std::int64_t>(values.size());
  }
  const int mean = static_cast<int>(
      static_cast<double>(sum) / static_cast<double>(count) + kToNearest);
  blend_with(picture.at, picture.bytes(), mean, static_cast<float>(factor));
}

void adjust_saturation(const Picture& picture, double factor) {
  if (picture.channels != 3) return;
  blend_with_grey(picture.at, picture.bytes() / 3, static_cast<float>(factor));
}

// Pixels at the edge stay as they are.
void adjust_sharpness(Canvas& canvas, double factor) {
  const Picture &from = canvas.picture(), &to = canvas.next();
  const auto side = static_cast<std::size_t>(from.channels),
             n = static_cast<std::size_t>(from.stride());
  for (const std::int64_t y : {std::int64_t{0}, from.height - 1})
    std::copy_n(from.row(y), n, to.row(y));
  for (std::int64_t y = 1; y + 1 < from.height; ++y) {
    std::copy_n(from.row(y), side, to.row(y));
    std::copy_n(from.row(y) + n - side, side, to.row(y) + n - side);
    blend_rows(to.row(y), from.row(y - 1), from.row(y), from.row(y + 1), side,
               n - std::min(n, side), side, static_cast<float>(factor));
  }
  canvas.turn();
}

void adjust_hue(const Picture& picture, double turn) {
  if (picture.channels != 3) return;
  const int shift = static_cast<int>(turn * 255) & 255;
  const auto turned = [&](std::uint8_t* rgb) {
    Colors colors;
    take_block(colors, rgb);
    to_hues(colors);
    to_colors(colors, shift);
    put_block(rgb, colors);
  };
  const auto values = picture.all();
  std::size_t at = 0;
  for (; at + 3 * kBlock <= values.size(); at += 3 * kBlock)
    turned(values.data() + at);
  std::array<std::uint8_t, 3 * kBlock> rest{};
  const auto left = values.subspan(at);
  std::ranges::copy(left, rest.begin());
  turned(rest.data());
  std::copy_n(rest.begin(), left.size(), left.begin());
}

void make_grey(const Picture& picture) {
  if (picture.channels == 3) fill_with_grey(picture.at, picture.bytes() / 3);
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
  invert_values_from(picture.at, picture.bytes(),
                     static_cast<int>(std::ceil(threshold)));
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
