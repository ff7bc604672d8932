#include "libcore/vectorize/count_lines.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace dl::vectorize {

std::int64_t count_lines(std::string_view text) {
  constexpr std::size_t kLanes = 64, kMost = 255;  // that a byte counts to
  std::int64_t lines = 0;
  while (text.size() >= kLanes) {
    std::array<std::uint8_t, kLanes> counts{};
    const std::size_t rounds = std::min(kMost, text.size() / kLanes);
    const char* at = text.data();
    for (std::size_t r = 0; r < rounds; ++r, at += kLanes)
      for (std::size_t l = 0; l < kLanes; ++l)
        counts[l] = static_cast<std::uint8_t>(counts[l] + (at[l] == '\n'));
    for (const std::uint8_t count : counts) lines += count;
    text.remove_prefix(rounds * kLanes);
  }
  return lines + std::count(text.begin(), text.end(), '\n');
}

}  // namespace dl::vectorize
