// The orientation that EXIF says, and turning a picture by it.

#include <algorithm>
#include <utility>

#include "libcore/vectorize/image/formats.h"

namespace dl::vectorize {
namespace {

constexpr std::uint32_t kOrientationTag = 0x0112, kShort = 3;

// Copies pixel by pixel; place(x, y) says where a pixel goes.
template <std::size_t Channels, typename Place>
void move_pixels(const Picture& in, Picture& out, const Place& place) {
  for (std::int64_t y = 0; y < in.height; ++y) {
    const std::uint8_t* from = in.row(y);
    for (std::int64_t x = 0; x < in.width; ++x, from += Channels) {
      const auto [to_x, to_y] = place(x, y);
      std::copy_n(from, Channels,
                  out.row(to_y) + to_x * std::int64_t{Channels});
    }
  }
}

}  // namespace

int exif_orientation(std::string_view tiff) {
  if (tiff.size() < 8) return 1;
  const bool big = tiff.starts_with("MM");
  if (!big && !tiff.starts_with("II")) return 1;
  const auto two = [&](std::size_t at) {
    return big ? big16(tiff, at) : little16(tiff, at);
  };
  const std::size_t directory = big ? big32(tiff, 4) : little32(tiff, 4);
  if (two(2) != 42 || directory > tiff.size() - 2) return 1;
  const std::size_t entries = two(directory);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + 12 * i;
    if (at + 12 > tiff.size()) return 1;
    if (two(at) != kOrientationTag || two(at + 2) != kShort) continue;
    const auto value = static_cast<int>(two(at + 8));
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

void make_upright(Picture& picture) {
  const int way = std::exchange(picture.orientation, 1);
  if (way == 1) return;
  const std::int64_t right = picture.width - 1, bottom = picture.height - 1;
  Picture out;
  if (way < 5)
    out.reshape(picture.width, picture.height, picture.channels);
  else
    out.reshape(picture.height, picture.width, picture.channels);
  const auto place = [&](std::int64_t x, std::int64_t y) {
    using At = std::pair<std::int64_t, std::int64_t>;
    switch (way) {
      case 2:
        return At{right - x, y};
      case 3:
        return At{right - x, bottom - y};
      case 4:
        return At{x, bottom - y};
      case 5:
        return At{y, x};
      case 6:
        return At{bottom - y, x};
      case 7:
        return At{bottom - y, right - x};
      default:
        return At{y, right - x};
    }
  };
  if (picture.channels == 1)
    move_pixels<1>(picture, out, place);
  else
    move_pixels<3>(picture, out, place);
  picture = std::move(out);
}

}  // namespace dl::vectorize
