// A picture in memory.

#ifndef DL_LIBCORE_VECTORIZE_IMAGE_PICTURE_H_
#define DL_LIBCORE_VECTORIZE_IMAGE_PICTURE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dl::vectorize {

// Pixels row by row from the top, the channels of one beside each other: 1 of
// grey, or 3 of red, green and blue.
struct Picture {
  std::int64_t width = 0, height = 0, channels = 0;
  std::vector<std::uint8_t> pixels;
  // How it is to be turned, as EXIF numbers it: 1, as it is.
  int orientation = 1;

  // Pixels are whatever was there.
  void reshape(std::int64_t new_width, std::int64_t new_height,
               std::int64_t new_channels) {
    width = new_width;
    height = new_height;
    channels = new_channels;
    pixels.resize(static_cast<std::size_t>(width * height * channels));
  }
  std::int64_t stride() const { return width * channels; }
  std::uint8_t* row(std::int64_t y) { return pixels.data() + y * stride(); }
  const std::uint8_t* row(std::int64_t y) const {
    return pixels.data() + y * stride();
  }
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_IMAGE_PICTURE_H_
