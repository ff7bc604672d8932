// Values of pictures in blocks that fill vectors.

#ifndef DL_LIBCORE_NN_AUGMENT_PLANES_H_
#define DL_LIBCORE_NN_AUGMENT_PLANES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dl::nn::augment {

// A new value for each byte.
using Table = std::array<std::uint8_t, 256>;
void map_values(std::span<std::uint8_t> values, const Table& table);

// Some pixels of three channels, each channel by itself.
struct Planes {
  static constexpr std::size_t kPixels = 64, kBytes = 3 * kPixels;
  alignas(64) std::array<std::uint8_t, kPixels> r, g, b;
};
void split_pixels(const std::uint8_t* rgb, Planes& planes);
void join_pixels(const Planes& planes, std::uint8_t* rgb);

// Calls f(planes, place of their pixels) for all pixels; the last ones may be
// followed by black.
template <typename Function>
void each_block(std::span<std::uint8_t> rgb, const Function& f) {
  Planes planes;
  std::size_t at = 0;
  for (; at + Planes::kBytes <= rgb.size(); at += Planes::kBytes) {
    split_pixels(rgb.data() + at, planes);
    f(planes, rgb.data() + at);
  }
  const auto left = rgb.subspan(at);
  if (left.empty()) return;
  std::array<std::uint8_t, Planes::kBytes> rest{};
  std::ranges::copy(left, rest.begin());
  split_pixels(rest.data(), planes);
  f(planes, rest.data());
  std::copy_n(rest.begin(), left.size(), left.begin());
}

}  // namespace dl::nn::augment

#endif  // DL_LIBCORE_NN_AUGMENT_PLANES_H_
