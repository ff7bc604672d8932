// Values one by one, most by a table of what becomes of each.

#include "libcore/nn/augment/tones.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/nn/augment/pixels.h"
#include "libcore/nn/augment/planes.h"

namespace dl::nn::augment {
namespace {

// Cutting off after adding it rounds numbers from 0 on, as Pillow does.
constexpr double kToNearest = 0.5;

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
std::uint8_t grey_of(unsigned r, unsigned g, unsigned b) {
  return static_cast<std::uint8_t>(
      (r * 19595U + g * 38470U + b * 7471U + 0x8000U) >> 16);
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

void blend_with(const Picture& picture, int base, double factor) {
  map_values(picture.all(), table_of([&](int i) {
               return blended(base, i, static_cast<float>(factor));
             }));
}

DL_WIDE_LOOP void invert_values_from(std::uint8_t* values, std::size_t n,
                                     int threshold) {
  for (std::size_t i = 0; i < n; ++i) {
    const int value = values[i];
    values[i] =
        static_cast<std::uint8_t>(value < threshold ? value : 255 - value);
  }
}

DL_WIDE_LOOP void blend_with_grey(Planes& planes, float factor) {
  for (std::size_t i = 0; i < Planes::kPixels; ++i) {
    const std::uint8_t r = planes.r[i], g = planes.g[i], b = planes.b[i];
    const int grey = grey_of(r, g, b);
    planes.r[i] = blended(grey, r, factor);
    planes.g[i] = blended(grey, g, factor);
    planes.b[i] = blended(grey, b, factor);
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

DL_WIDE_LOOP std::uint32_t sum_of_grey(const Planes& planes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < Planes::kPixels; ++i)
    sum += grey_of(planes.r[i], planes.g[i], planes.b[i]);
  return sum;
}

DL_WIDE_LOOP void fill_with_grey(std::uint8_t* rgb, std::size_t pixels) {
  for (std::size_t i = 0; i < pixels; ++i) {
    std::uint8_t* p = rgb + 3 * i;
    p[0] = p[1] = p[2] = grey_of(p[0], p[1], p[2]);
  }
}

}  // namespace

void adjust_brightness(const Picture& picture, double factor) {
  blend_with(picture, 0, factor);
}

void adjust_contrast(const Picture& picture, double factor) {
  std::int64_t sum = 0;
  const auto values = picture.all();
  if (picture.channels == 3)
    each_block(values, [&](const Planes& planes, std::uint8_t*) {
      sum += sum_of_grey(planes);
    });
  else
    for (const std::uint8_t value : values) sum += value;
  const std::size_t count =
      picture.channels == 3 ? values.size() / 3 : values.size();
  const int mean = static_cast<int>(
      static_cast<double>(sum) / static_cast<double>(count) + kToNearest);
  blend_with(picture, mean, factor);
}

void adjust_saturation(const Picture& picture, double factor) {
  if (picture.channels != 3) return;
  each_block(picture.all(), [&](Planes& planes, std::uint8_t* rgb) {
    blend_with_grey(planes, static_cast<float>(factor));
    join_pixels(planes, rgb);
  });
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
