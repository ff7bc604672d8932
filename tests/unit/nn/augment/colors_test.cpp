// Changes of colors, beside the same computed one by one as Pillow does.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "libcore/base/philox.h"
#include "libcore/nn/augment/planes.h"
#include "libcore/nn/augment/tones.h"

namespace dl::nn::augment::colors_test {

using Bytes = std::vector<std::uint8_t>;

namespace {

Picture picture_of(Bytes& bytes, std::int64_t channels = 3) {
  Picture picture;
  picture.at = bytes.data();
  picture.height = 1;
  picture.width = static_cast<std::int64_t>(bytes.size()) / channels;
  picture.channels = channels;
  return picture;
}

std::uint8_t rounded(double value) {
  return static_cast<std::uint8_t>(static_cast<int>(value + 0.5));
}

// The types of Pillow's numbers, each where it has it.
void turn(std::uint8_t* p, int shift) {
  const int most = std::max({p[0], p[1], p[2]}),
            least = std::min({p[0], p[1], p[2]});
  int hue = 0, saturation = 0;
  if (most > least) {
    const auto range = static_cast<float>(most - least);
    const auto share = [&](int c) {
      return static_cast<float>(most - p[c]) / range;
    };
    float h = 0;
    if (p[0] == most)
      h = share(2) - share(1);
    else if (p[1] == most)
      h = static_cast<float>(2.0 + share(0) - share(2));
    else
      h = static_cast<float>(4.0 + share(1) - share(0));
    h = static_cast<float>(std::fmod(h / 6.0 + 1.0, 1.0));
    hue = static_cast<int>(h * 255.0);
    saturation = static_cast<int>(range / static_cast<float>(most) * 255.0);
  }
  hue = (hue + shift) & 255;
  const double place = static_cast<float>(hue) * 6.0 / 255.0;
  const int whole = static_cast<int>(std::floor(place));
  const auto within = static_cast<float>(place - whole);
  const auto depth = static_cast<float>(saturation / 255.0);
  const auto v = static_cast<std::uint8_t>(most);
  const std::uint8_t low = rounded(v * (1.0 - depth)),
                     falls = rounded(v * (1.0 - depth * within)),
                     grows = rounded(v * (1.0 - depth * (1.0 - within)));
  const std::uint8_t colors[6][3] = {{v, grows, low}, {falls, v, low},
                                     {low, v, grows}, {low, falls, v},
                                     {grows, low, v}, {v, low, falls}};
  std::copy_n(colors[whole % 6], 3, p);
}

}  // namespace

TEST_CASE("hues turn as they do one by one") {
  Bytes colors;
  for (int r = 0; r < 256; r += 5)
    for (int g = 0; g < 256; g += 3)
      for (int b = 1; b < 256; b += 6)
        for (const int value : {r, g, b})
          colors.push_back(static_cast<std::uint8_t>(value));
  for (const double by : {-0.5, -0.1, 0.0, 0.07, 0.33, 0.5}) {
    Bytes all = colors, expected = colors;
    for (std::size_t i = 0; i < expected.size(); i += 3)
      turn(expected.data() + i, static_cast<int>(by * 255) & 255);
    adjust_hue(picture_of(all), by);
    CHECK(all == expected);
  }
}

TEST_CASE("every value goes through a table, whatever their number") {
  Table table;
  std::iota(table.rbegin(), table.rend(), std::uint8_t{3});
  Philox random(1, 2);
  for (const std::size_t n : {0, 1, 63, 64, 65, 200, 1000}) {
    Bytes values(n);
    for (auto& value : values) value = static_cast<std::uint8_t>(random());
    Bytes expected = values;
    for (auto& value : expected) value = table[value];
    map_values(values, table);
    CHECK(values == expected);
  }
}

TEST_CASE("pixels come apart into planes, and together again") {
  for (const std::size_t pixels : {0, 1, 63, 64, 65, 130}) {
    Bytes rgb(3 * pixels);
    std::iota(rgb.begin(), rgb.end(), std::uint8_t{0});
    const Bytes before = rgb;
    std::size_t at = 0;
    each_block(rgb, [&](Planes& planes, std::uint8_t* place) {
      const std::size_t n = std::min(Planes::kPixels, pixels - at);
      for (std::size_t i = 0; i < Planes::kPixels; ++i, ++at) {
        const bool in = i < n;
        CHECK(planes.r[i] == (in ? before[3 * at] : 0));
        CHECK(planes.g[i] == (in ? before[3 * at + 1] : 0));
        CHECK(planes.b[i] == (in ? before[3 * at + 2] : 0));
      }
      std::swap(planes.r, planes.b);
      join_pixels(planes, place);
    });
    for (std::size_t i = 0; i < rgb.size(); ++i)
      CHECK(rgb[i] == before[i - i % 3 + 2 - i % 3]);
  }
}

TEST_CASE("colors of a picture move towards its grey") {
  Bytes rgb = {200, 100, 0};
  for (int i = 0; i < 100; ++i) rgb.insert(rgb.end(), {10, 250, 60});
  Bytes mean = rgb, none = rgb;
  adjust_saturation(picture_of(none), 0);
  CHECK(none[0] == 118);
  CHECK(none[3] == 157);
  CHECK(none.back() == 157);
  adjust_contrast(picture_of(mean), 0);
  CHECK(mean == Bytes(rgb.size(), 157));  // (118 + 100 * 157) / 101 = 156.6
}

}  // namespace dl::nn::augment::colors_test
