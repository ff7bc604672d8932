// Bytes of vectors in another order: by one instruction where a processor has
// AVX-512 VBMI, else one by one.

#include "libcore/nn/augment/planes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define DL_VBMI __attribute__((target("avx512bw,avx512vbmi")))
#endif

#include "libcore/nn/augment/pixels.h"

namespace dl::nn::augment {
namespace {

#if defined(__x86_64__)

constexpr std::size_t kVector = 64;

bool has_vbmi() {
  static const bool has = __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vbmi");
  return has;
}

// Where each byte of a vector comes from: of two vectors one after the other,
// or, where `third` has a bit, of a third one.
struct Order {
  alignas(kVector) std::array<std::uint8_t, kVector> from{};
  std::uint64_t third = 0;
};

// The pixels' place of a channel, and the planes' places of a vector of pixels.
constexpr Order order_of_plane(std::size_t channel) {
  Order order;
  for (std::size_t i = 0; i < kVector; ++i) {
    const std::size_t at = 3 * i + channel;
    order.from[i] = static_cast<std::uint8_t>(at % (2 * kVector));
    if (at >= 2 * kVector) order.third |= std::uint64_t{1} << i;
  }
  return order;
}

constexpr Order order_of_pixels(std::size_t vector) {
  Order order;
  for (std::size_t i = 0; i < kVector; ++i) {
    const std::size_t at = vector * kVector + i;
    order.from[i] =
        static_cast<std::uint8_t>(at / 3 + (at % 3 == 1 ? kVector : 0));
    if (at % 3 == 2) order.third |= std::uint64_t{1} << i;
  }
  return order;
}

constexpr std::array<Order, 3> kPlanes = {order_of_plane(0), order_of_plane(1),
                                          order_of_plane(2)};
constexpr std::array<Order, 3> kPixels = {
    order_of_pixels(0), order_of_pixels(1), order_of_pixels(2)};

DL_VBMI void reorder(const std::uint8_t* a, const std::uint8_t* b,
                     const std::uint8_t* c, const std::array<Order, 3>& orders,
                     const std::array<std::uint8_t*, 3>& out) {
  const __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b),
                z = _mm512_loadu_si512(c);
  for (std::size_t i = 0; i < 3; ++i) {
    const __m512i from = _mm512_load_si512(orders[i].from.data());
    _mm512_storeu_si512(out[i], _mm512_mask_permutexvar_epi8(
                                    _mm512_permutex2var_epi8(x, from, y),
                                    orders[i].third, from, z));
  }
}

DL_VBMI std::size_t map_vectors(std::span<std::uint8_t> values,
                                const Table& table) {
  const std::uint8_t* t = table.data();
  const __m512i a = _mm512_loadu_si512(t), b = _mm512_loadu_si512(t + 64),
                c = _mm512_loadu_si512(t + 128),
                d = _mm512_loadu_si512(t + 192);
  std::size_t at = 0;
  for (; at + kVector <= values.size(); at += kVector) {
    std::uint8_t* place = values.data() + at;
    const __m512i value = _mm512_loadu_si512(place);
    _mm512_storeu_si512(
        place, _mm512_mask_blend_epi8(_mm512_movepi8_mask(value),
                                      _mm512_permutex2var_epi8(a, value, b),
                                      _mm512_permutex2var_epi8(c, value, d)));
  }
  return at;
}

#else

bool has_vbmi() { return false; }

#endif

DL_WIDE_LOOP void split_bytes(const std::uint8_t* __restrict rgb,
                              Planes& __restrict planes) {
  for (std::size_t i = 0; i < Planes::kPixels; ++i) {
    planes.r[i] = rgb[3 * i];
    planes.g[i] = rgb[3 * i + 1];
    planes.b[i] = rgb[3 * i + 2];
  }
}

DL_WIDE_LOOP void join_bytes(const Planes& __restrict planes,
                             std::uint8_t* __restrict rgb) {
  for (std::size_t i = 0; i < Planes::kPixels; ++i) {
    rgb[3 * i] = planes.r[i];
    rgb[3 * i + 1] = planes.g[i];
    rgb[3 * i + 2] = planes.b[i];
  }
}

}  // namespace

void map_values(std::span<std::uint8_t> values, const Table& table) {
  std::size_t at = 0;
#if defined(__x86_64__)
  if (has_vbmi()) at = map_vectors(values, table);
#endif
  for (; at < values.size(); ++at) values[at] = table[values[at]];
}

void split_pixels(const std::uint8_t* rgb, Planes& planes) {
#if defined(__x86_64__)
  if (has_vbmi())
    return reorder(rgb, rgb + kVector, rgb + 2 * kVector, kPlanes,
                   {planes.r.data(), planes.g.data(), planes.b.data()});
#endif
  split_bytes(rgb, planes);
}

void join_pixels(const Planes& planes, std::uint8_t* rgb) {
#if defined(__x86_64__)
  if (has_vbmi())
    return reorder(planes.r.data(), planes.g.data(), planes.b.data(), kPixels,
                   {rgb, rgb + kVector, rgb + 2 * kVector});
#endif
  join_bytes(planes, rgb);
}

}  // namespace dl::nn::augment
