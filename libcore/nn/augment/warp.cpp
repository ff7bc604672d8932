// Pixel by pixel: the places of a row are computed first, then looked up.

#include "libcore/nn/augment/warp.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "libcore/nn/augment/pixels.h"
#include "libcore/nn/augment/shares.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

constexpr std::string_view kInterpolations[] = {"nearest", "bilinear"};

constexpr std::int32_t kHalf = kOne / 2;
constexpr double kFar = 1 << 29;  // further out is outside as well

// x and y of each pixel of a row, one behind the other.
DL_WIDE_LOOP void find_places(const Matrix& m, std::int64_t y,
                              std::int64_t width, std::int32_t* places) {
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

// Shares of four pixels, p and q beneath it and those to the right of each, in
// two steps of 16 bits.
struct Shares {
  std::int32_t left, right, up, down;
};

std::uint8_t mean_of(int p, int p_right, int q, int q_right, const Shares& s) {
  constexpr int kRound = 1 << (kDropped - 1);
  const int above = (p * s.left + p_right * s.right + kRound) >> kDropped;
  const int below = (q * s.left + q_right * s.right + kRound) >> kDropped;
  return static_cast<std::uint8_t>(
      (above * s.up + below * s.down + (1 << (kLast - 1))) >> kLast);
}

// The mean of pixels of three channels; reads four bytes of each.
void put_mean(std::uint8_t* out, const std::uint8_t* p, const std::uint8_t* q,
              const Shares& s) {
#ifdef __SSE2__
  const auto four = [](const std::uint8_t* at) {
    std::int32_t word;
    std::memcpy(&word, at, sizeof word);
    return _mm_cvtsi32_si128(word);
  };
  const __m128i zero = _mm_setzero_si128();
  const __m128i across = _mm_set1_epi32(s.left | s.right << 16);
  const auto row = [&](const std::uint8_t* at) {
    const __m128i pair = _mm_unpacklo_epi8(four(at), four(at + 3));
    const __m128i sum = _mm_madd_epi16(_mm_unpacklo_epi8(pair, zero), across);
    return _mm_srai_epi32(
        _mm_add_epi32(sum, _mm_set1_epi32(1 << (kDropped - 1))), kDropped);
  };
  const __m128i both = _mm_packs_epi32(row(p), row(q));
  const __m128i columns = _mm_unpacklo_epi16(both, _mm_srli_si128(both, 8));
  const __m128i sum =
      _mm_madd_epi16(columns, _mm_set1_epi32(s.up | s.down << 16));
  const __m128i mean = _mm_srai_epi32(
      _mm_add_epi32(sum, _mm_set1_epi32(1 << (kLast - 1))), kLast);
  const __m128i words = _mm_packs_epi32(mean, mean);
  const std::int32_t word = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
  std::memcpy(out, &word, 3);
#else
  for (int c = 0; c < 3; ++c)
    out[c] = mean_of(p[c], p[c + 3], q[c], q[c + 3], s);
#endif
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
    // Distances from the center of the pixel above and to the left.
    const std::int32_t x = xs[i] - kHalf, y = ys[i] - kHalf;
    const std::int64_t column = x >> kBits, row = y >> kBits;
    const std::int32_t right = x & (kOne - 1), down = y & (kOne - 1);
    const Shares shares = {kOne - right, right, kOne - down, down};
    const std::uint8_t* p = from.row(std::max<std::int64_t>(row, 0)) +
                            std::max<std::int64_t>(column, 0) * size;
    if (kChannels == 3 && column >= 0 && column + 1 < width && row >= 0 &&
        row + 2 < from.height) {
      put_mean(out, p, p + from.stride(), shares);
      continue;
    }
    const std::int64_t next = column < 0 || column + 1 >= width ? 0 : size;
    const std::uint8_t* q =
        p + (row < 0 || row + 1 >= from.height ? 0 : from.stride());
    for (std::int64_t c = 0; c < size; ++c)
      out[c] = mean_of(p[c], p[next + c], q[c], q[next + c], shares);
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

Sampling::Sampling(const LayerSettings& settings)
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
