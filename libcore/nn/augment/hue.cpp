// The turn of the circle of colors, through hue, saturation and value.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "libcore/nn/augment/pixels.h"
#include "libcore/nn/augment/planes.h"
#include "libcore/nn/augment/tones.h"

namespace dl::nn::augment {
namespace {

constexpr float kByte = 1 / 255.0F;
// Cutting off after adding it rounds numbers from 0 on.
constexpr float kRoundUp = 0.5F;

// Without a branch, which vectors do not have.
int either(bool choice, int yes, int no) {
  return no ^ ((yes ^ no) & -static_cast<int>(choice));
}

// Pillow computes some of this in double; cut off to bytes, the numbers are
// the same for all colors.
DL_WIDE_LOOP void turn_colors(Planes& planes, int shift) {
  for (std::size_t i = 0; i < Planes::kPixels; ++i) {
    const int r = planes.r[i], g = planes.g[i], b = planes.b[i];
    const int most = std::max(r, std::max(g, b)),
              least = std::min(r, std::min(g, b)), range = most - least,
              middle = r + g + b - most - least;
    // Sixths of the circle: red at 0, green at 2, blue at 4.
    const bool red = r == most, green = g == most;
    const int up = either(red, g <= b, either(green, r > b, g > r));
    const int from = either(red, 0, either(green, 2, 4)) + 1 - 2 * up;
    const float share = static_cast<float>(most - middle) /
                        static_cast<float>(std::max(range, 1));
    const float turns =
        (static_cast<float>(from) - static_cast<float>(1 - 2 * up) * share) /
        6.0F;
    const int hue = static_cast<int>(
        (turns + static_cast<float>(static_cast<int>(turns < 0))) * 255.0F);
    const int saturation =
        static_cast<int>(static_cast<float>(255 * range) /
                         static_cast<float>(std::max(most, 1)));

    const int turned = (hue + shift) & 255;
    const int sixth = (turned * 6 * 257 + 257) >> 16;  // turned * 6 / 255
    const float within = static_cast<float>(turned * 6 - sixth * 255) * kByte;
    const float depth = static_cast<float>(saturation) * kByte;
    const auto value = static_cast<float>(most);
    const int low = static_cast<int>(value * (1.0F - depth) + kRoundUp);
    const int odd = sixth & 1;
    const float towards = static_cast<float>(odd) * within +
                          static_cast<float>(1 - odd) * (1.0F - within);
    const int mid =
        static_cast<int>(value * (1.0F - depth * towards) + kRoundUp);
    // From red to green, from green to blue, from blue to red; 6 is 0.
    const bool first = sixth < 2 || sixth == 6, last = sixth == 4 || sixth == 5;
    const int falls = either(odd != 0, mid, most),
              grows = either(odd != 0, most, mid);
    planes.r[i] = static_cast<std::uint8_t>(
        either(first, falls, either(last, grows, low)));
    planes.g[i] = static_cast<std::uint8_t>(
        either(first, grows, either(last, low, falls)));
    planes.b[i] = static_cast<std::uint8_t>(
        either(first, low, either(last, falls, grows)));
  }
}

}  // namespace

void adjust_hue(const Picture& picture, double turn) {
  if (picture.channels != 3) return;
  const int shift = static_cast<int>(turn * 255) & 255;
  each_block(picture.all(), [&](Planes& planes, std::uint8_t* rgb) {
    turn_colors(planes, shift);
    join_pixels(planes, rgb);
  });
}

}  // namespace dl::nn::augment
