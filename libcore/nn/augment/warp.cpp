// Pixel by pixel: the places of a row are computed first, then looked up.

#include "libcore/nn/augment/warp.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "libcore/nn/augment/pixels.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

constexpr std::string_view kInterpolations[] = {"nearest", "bilinear"};

// Places are counted in 1/2048 of a pixel.
constexpr int kBits = 11;
constexpr std::int32_t kOne = 1 << kBits, kHalf = kOne / 2;
constexpr double kFar = 1 << 29;  // further out is outside as well

// x and y of each pixel of a row, one behind the other.
void find_places(const Matrix& m, std::int64_t y, std::int64_t width,
                 std::int32_t* places) {
  const double down = static_cast<double>(y) + 0.5;
  const double x0 = m.b * down + m.c, y0 = m.e * down + m.f,
               z0 = m.h * down + 1;
  const bool flat = m.g == 0 && m.h == 0;
  std::int32_t *xs = places, *ys = places + width;
  // The offset makes cutting off rounding down.
  const auto place = [](double at) {
    return static_cast<std::int32_t>(
               std::min(std::max(at * kOne, -kFar), kFar) + kFar) -
           static_cast<std::int32_t>(kFar);
  };
  if (flat) {
    for (std::int64_t i = 0; i < width; ++i) {
      const double right = static_cast<double>(static_cast<int>(i)) + 0.5;
      xs[i] = place(m.a * right + x0);
      ys[i] = place(m.d * right + y0);
    }
    return;
  }
  for (std::int64_t i = 0; i < width; ++i) {
    const double right = static_cast<double>(static_cast<int>(i)) + 0.5;
    const double z = m.g * right + z0;
    const double factor = z > 1e-9 ? 1 / z : 1e9;
    xs[i] = place((m.a * right + x0) * factor);
    ys[i] = place((m.d * right + y0) * factor);
  }
}

bool is_inside(std::int32_t place, std::int64_t extent) {
  return place >= 0 && (place >> kBits) < extent;
}

template <int kChannels>
void take_nearest(const Picture& from, const std::int32_t* places,
                  std::uint8_t* out, std::uint8_t fill) {
  const std::int64_t width = from.width, size = from.channels;
  const std::int32_t *xs = places, *ys = places + width;
  for (std::int64_t i = 0; i < width; ++i, out += size)
    if (is_inside(xs[i], width) && is_inside(ys[i], from.height))
      copy_pixel<kChannels>(
          out, from.row(ys[i] >> kBits) + (xs[i] >> kBits) * size, size);
    else
      std::memset(out, fill, static_cast<std::size_t>(size));
}

template <int kChannels>
void interpolate(const Picture& from, const std::int32_t* places,
                 std::uint8_t* out, std::uint8_t fill) {
  const std::int64_t width = from.width,
                     size = kChannels > 0 ? kChannels : from.channels;
  const std::int32_t *xs = places, *ys = places + width;
  for (std::int64_t i = 0; i < width; ++i, out += size) {
    if (!is_inside(xs[i], width) || !is_inside(ys[i], from.height)) {
      std::memset(out, fill, static_cast<std::size_t>(size));
      continue;
    }
    // Of the center of the pixel above and to the left.
    const std::int32_t x = xs[i] - kHalf, y = ys[i] - kHalf;
    const std::int64_t column = x >> kBits, row = y >> kBits;
    const std::int32_t right = x & (kOne - 1), down = y & (kOne - 1);
    const std::uint8_t* p =
        from.row(row < 0 ? 0 : row) + (column < 0 ? 0 : column) * size;
    const std::int64_t next = column < 0 || column + 1 >= width ? 0 : size;
    const std::uint8_t* q =
        p + (row < 0 || row + 1 >= from.height ? 0 : from.stride());
    for (std::int64_t c = 0; c < size; ++c) {
      const std::int32_t above = p[c] * (kOne - right) + p[next + c] * right;
      const std::int32_t below = q[c] * (kOne - right) + q[next + c] * right;
      out[c] = static_cast<std::uint8_t>(
          (above * (kOne - down) + below * down + (1 << (2 * kBits - 1))) >>
          (2 * kBits));
    }
  }
}

}  // namespace

Matrix matrix_of(const Affinity& affinity, const Picture& picture) {
  constexpr double kDegree = std::numbers::pi / 180;
  const double angle = affinity.angle * kDegree,
               sx = affinity.shear_x * kDegree, sy = affinity.shear_y * kDegree;
  // As torchvision has it: the inverse of translation, center, rotation, shear
  // and scale.
  const double a = std::cos(angle - sy) / std::cos(sy);
  const double b =
      -std::cos(angle - sy) * std::tan(sx) / std::cos(sy) - std::sin(angle);
  const double c = std::sin(angle - sy) / std::cos(sy);
  const double d =
      -std::sin(angle - sy) * std::tan(sx) / std::cos(sy) + std::cos(angle);
  Matrix m;
  m.a = d / affinity.scale;
  m.b = -b / affinity.scale;
  m.d = -c / affinity.scale;
  m.e = a / affinity.scale;
  const double half = affinity.centered ? 0.5 : 0;
  const double x = half * static_cast<double>(picture.width),
               y = half * static_cast<double>(picture.height);
  m.c = m.a * (-x - affinity.right) + m.b * (-y - affinity.down) + x;
  m.f = m.d * (-x - affinity.right) + m.e * (-y - affinity.down) + y;
  return m;
}

Sampling::Sampling(const Settings& settings)
    : bilinear(settings.text("interpolation") == kInterpolations[1]),
      fill(static_cast<std::uint8_t>(
          settings.has("fill") ? settings.integer("fill") : 0)) {}

void warp(Sample& sample, const Matrix& matrix, const Sampling& sampling,
          Room& room) {
  const std::int64_t width = sample.picture().width,
                     height = sample.picture().height;
  room.numbers.resize(static_cast<std::size_t>(2 * width));
  std::int32_t* places = room.numbers.data();
  for (std::int64_t y = 0; y < height; ++y) {
    find_places(matrix, y, width, places);
    for (Canvas& canvas : sample.pictures) {
      const Picture& from = canvas.picture();
      std::uint8_t* out = canvas.next().row(y);
      const bool labels = &canvas != sample.pictures.data();
      const std::uint8_t fill = labels ? 0 : sampling.fill;
      for_channels(from.channels, [&](auto channels) {
        if (labels || !sampling.bilinear)
          take_nearest<channels>(from, places, out, fill);
        else
          interpolate<channels>(from, places, out, fill);
      });
    }
  }
  for (Canvas& canvas : sample.pictures) canvas.turn();
}

Key interpolation_key(std::string_view fallback) {
  return key::one_of("interpolation", fallback,
                     "Pixel that a place between pixels has.", kInterpolations);
}

}  // namespace dl::nn::augment
