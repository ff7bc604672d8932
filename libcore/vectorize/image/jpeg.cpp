// JPEG, decoded as Pillow does.

#include "libcore/data/jpeg.h"

#include <algorithm>
#include <cstring>

#include "libcore/base/error.h"
#include "libcore/vectorize/image/formats.h"

namespace dl::vectorize {
namespace {

// Adobe's programs store CMYK inverted, and so does nearly everyone.
void to_rgb(const Picture& cmyk, bool inverted, Picture& out) {
  const auto product = [](int a, int b) {  // a * b / 255, rounded
    const int x = a * b + 128;
    return ((x >> 8) + x) >> 8;
  };
  const int flip = inverted ? 255 : 0;
  const std::uint8_t* in = cmyk.pixels.data();
  for (std::size_t i = 0; i < out.pixels.size(); i += 3, in += 4) {
    const int light = 255 - (in[3] ^ flip);
    for (std::size_t c = 0; c < 3; ++c)
      out.pixels[i + c] = static_cast<std::uint8_t>(
          std::clamp(light - product(in[c] ^ flip, light), 0, 255));
  }
}

// The library's smaller sizes: 1/2, 1/4, 1/8.
unsigned scale_of(const data::JpegReader::Header& header,
                  const DecodeLimits& limits, bool lies) {
  if (limits.least_width == 0 || limits.least_height == 0) return 1;
  const std::int64_t width = lies ? header.height : header.width;
  const std::int64_t height = lies ? header.width : header.height;
  for (const unsigned by : {8U, 4U, 2U})
    if ((width + by - 1) / by >= limits.least_width &&
        (height + by - 1) / by >= limits.least_height)
      return by;
  return 1;
}

void read_jpeg(std::string_view bytes, const DecodeLimits& limits,
               Picture& out) {
  data::JpegReader file;
  const data::JpegReader::Header header = file.header(bytes);
  check_pixels(header.width, header.height, limits);
  out.orientation = exif_orientation(header.exif);
  const auto [width, height, channels] =
      file.start(scale_of(header, limits, out.orientation > 4));
  const bool ink = channels == 4;
  Picture inks;
  Picture& to = ink ? inks : out;
  to.reshape(width, height, channels);
  file.read(to.pixels.data(), static_cast<std::size_t>(to.stride()));
  if (!ink) return;
  out.reshape(width, height, 3);
  to_rgb(inks, header.adobe, out);
}

bool is_jpeg(std::string_view bytes) {
  return bytes.starts_with("\xFF\xD8\xFF");
}

}  // namespace

bool decode_jpeg_of(std::string_view bytes, const tensor::Shape& shape,
                    std::span<std::byte> out) try {
  if (!is_jpeg(bytes)) return false;
  data::JpegReader file;
  const data::JpegReader::Header header = file.header(bytes);
  if (shape != tensor::Shape{header.height, header.width, header.components} ||
      exif_orientation(header.exif) != 1)
    return false;
  file.start();
  file.read(reinterpret_cast<std::uint8_t*>(out.data()),
            static_cast<std::size_t>(shape[1] * shape[2]));
  return true;
} catch (Error& e) {
  e.add_context(kJpeg.name);
  throw;
}

const PictureFormat kJpeg = {"JPEG", is_jpeg, read_jpeg, data::jpeg_library};

}  // namespace dl::vectorize
