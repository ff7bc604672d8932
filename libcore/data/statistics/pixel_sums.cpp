#include "libcore/data/statistics/pixel_sums.h"

#include <algorithm>
#include <array>

namespace dl::data {
namespace {

__extension__ using Wide = unsigned __int128;

// Adds in lanes that are a multiple of a pixel, as many as vectors have.
template <std::size_t N>
std::vector<PixelSums> in_lanes(const std::uint8_t* values, std::size_t all) {
  constexpr std::size_t kLanes = 16 * N;
  constexpr std::size_t kMost = 1 << 16;  // squares that 32 bits hold
  std::vector<PixelSums> sums(N);
  for (std::size_t at = 0; at < all;) {
    std::array<std::uint32_t, kLanes> sum{}, squares{};
    std::array<std::uint8_t, kLanes> min, max{};
    min.fill(255);
    const std::size_t blocks = std::min(kMost, (all - at) / kLanes);
    for (std::size_t b = 0; b < blocks; ++b, at += kLanes)
      for (std::size_t l = 0; l < kLanes; ++l) {
        const std::uint8_t value = values[at + l];
        const auto square = static_cast<std::uint16_t>(value * value);
        sum[l] += value;
        squares[l] += square;
        min[l] = std::min(min[l], value);
        max[l] = std::max(max[l], value);
      }
    for (std::size_t l = 0; l < kLanes; ++l) {
      PixelSums& own = sums[l % N];
      own.sum += sum[l];
      own.squares += squares[l];
      own.min = std::min(own.min, min[l]);
      own.max = std::max(own.max, max[l]);
    }
    if (blocks == kMost) continue;
    for (std::size_t l = 0; at < all; ++l, ++at) {  // the rest
      PixelSums& own = sums[l % N];
      own.sum += values[at];
      own.squares += static_cast<std::uint64_t>(values[at]) * values[at];
      own.min = std::min(own.min, values[at]);
      own.max = std::max(own.max, values[at]);
    }
  }
  return sums;
}

}  // namespace

double PixelSums::spread(std::uint64_t count) const {
  const Wide times_count = Wide{count} * squares - Wide{sum} * sum;
  return static_cast<double>(times_count) / static_cast<double>(count);
}

std::vector<PixelSums> sums_of_pixels(const std::uint8_t* values,
                                      std::size_t pixels,
                                      std::size_t channels) {
  return channels == 1 ? in_lanes<1>(values, pixels)
                       : in_lanes<3>(values, 3 * pixels);
}

}  // namespace dl::data
