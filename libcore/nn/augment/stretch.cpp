// Rows first, of which each new one is a mean of two, and then columns.

#include "libcore/nn/augment/stretch.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>

#include "libcore/nn/augment/pixels.h"
#include "libcore/nn/augment/shares.h"

namespace dl::nn::augment {
namespace {

// Two neighbors and the share of the second.
struct Place {
  std::int32_t first, share;
};

// Neighbors of place i of n, which stand for the range from `begin` on,
// `length` long, of `extent` pixels.
Place place_of(std::int64_t i, std::int64_t n, double begin, double length,
               std::int64_t extent) {
  const double at =
      begin + (static_cast<double>(i) + 0.5) * length / static_cast<double>(n) -
      0.5;
  const double most = static_cast<double>(extent - 1);
  const auto units =
      static_cast<std::int64_t>(std::clamp(at, 0.0, most) * kOne);
  const std::int64_t first = std::min(units >> kBits, extent - 1);
  return {static_cast<std::int32_t>(first),
          static_cast<std::int32_t>(units & (kOne - 1))};
}

DL_WIDE_LOOP void mix_rows(std::int16_t* __restrict out,
                           const std::uint8_t* upper, const std::uint8_t* lower,
                           std::int32_t share, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] =
        static_cast<std::int16_t>((upper[i] * (kOne - share) +
                                   lower[i] * share + (1 << (kDropped - 1))) >>
                                  kDropped);
}

template <int kChannels>
void mix_columns(std::uint8_t* out, const std::int16_t* row,
                 const Place* places, std::int64_t width,
                 std::int64_t channels) {
  const std::int64_t size = kChannels > 0 ? kChannels : channels;
  for (std::int64_t x = 0; x < width; ++x, out += size) {
    const auto [first, share] = places[x];
    const std::int16_t *p = row + first * size, *next = p + size;
    for (std::int64_t c = 0; c < size; ++c)
      out[c] = static_cast<std::uint8_t>(
          (p[c] * (kOne - share) + next[c] * share + (1 << (kLast - 1))) >>
          kLast);
  }
}

#ifdef __SSE2__
// Reads and writes one channel more than a pixel has, but for the last.
template <>
void mix_columns<3>(std::uint8_t* out, const std::int16_t* row,
                    const Place* places, std::int64_t width, std::int64_t) {
  const __m128i half = _mm_set1_epi32(1 << (kLast - 1));
  for (std::int64_t x = 0; x < width; ++x, out += 3) {
    const auto [first, share] = places[x];
    const auto four = [](const std::int16_t* at) {
      return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
    };
    const std::int16_t* p = row + first * 3;
    const __m128i pairs = _mm_unpacklo_epi16(four(p), four(p + 3));
    const __m128i sums =
        _mm_madd_epi16(pairs, _mm_set1_epi32((kOne - share) | share << 16));
    const __m128i means = _mm_srai_epi32(_mm_add_epi32(sums, half), kLast);
    const __m128i words = _mm_packs_epi32(means, means);
    const std::int32_t pixel =
        _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
    std::memcpy(out, &pixel, x + 1 < width ? 4 : 3);
  }
}
#endif

}  // namespace

void stretch(Canvas& canvas, const Box& box, Room& room) {
  const Picture &from = canvas.picture(), &to = canvas.next();
  const auto n = static_cast<std::size_t>(from.stride());
  // Room for one pixel and one channel beyond the last.
  room.words.resize(n + static_cast<std::size_t>(from.channels) + 1);
  room.numbers.resize(static_cast<std::size_t>(2 * from.width));
  static_assert(sizeof(Place) == 2 * sizeof(std::int32_t));
  auto* places = reinterpret_cast<Place*>(room.numbers.data());
  for (std::int64_t x = 0; x < from.width; ++x)
    places[x] = place_of(x, from.width, box.left, box.width, from.width);
  for (std::int64_t y = 0; y < from.height; ++y) {
    const Place place =
        place_of(y, from.height, box.top, box.height, from.height);
    const std::int64_t lower =
        std::min<std::int64_t>(place.first + 1, from.height - 1);
    mix_rows(room.words.data(), from.row(place.first), from.row(lower),
             place.share, n);
    for_channels(from.channels, [&](auto channels) {
      mix_columns<channels>(to.row(y), room.words.data(), places, from.width,
                            from.channels);
    });
  }
  canvas.turn();
}

}  // namespace dl::nn::augment
