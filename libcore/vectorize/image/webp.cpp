// WebP, by libwebp.

#include <webp/decode.h>

#include "libcore/base/error.h"
#include "libcore/vectorize/image/formats.h"

namespace dl::vectorize {
namespace {

// The chunk EXIF of the file, behind the header "RIFF size WEBP"; 1: none.
int webp_orientation(std::string_view bytes) {
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::size_t size = little32(bytes, at + 4);
    if (size > bytes.size() - at - 8) return 1;
    std::string_view chunk = bytes.substr(at + 8, size);
    if (bytes.substr(at, 4) == "EXIF") {
      constexpr std::string_view kExif("Exif\0\0", 6);
      if (chunk.starts_with(kExif)) chunk.remove_prefix(kExif.size());
      return exif_orientation(chunk);
    }
    at += 8 + size + size % 2;
  }
  return 1;
}

void read_webp(std::string_view bytes, const DecodeLimits& limits,
               Picture& out) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  WebPBitstreamFeatures features;
  const VP8StatusCode status = ::WebPGetFeatures(data, bytes.size(), &features);
  if (status == VP8_STATUS_NOT_ENOUGH_DATA) bad_data("it is cut short");
  if (status != VP8_STATUS_OK) bad_data("it is damaged");
  if (features.has_animation != 0)
    bad_data("it is an animation; want a single picture");
  check_pixels(features.width, features.height, limits);
  out.reshape(features.width, features.height, 3);
  if (::WebPDecodeRGBInto(data, bytes.size(), out.pixels.data(),
                          out.pixels.size(),
                          static_cast<int>(out.stride())) == nullptr)
    bad_data("it is damaged or cut short");
  out.orientation = webp_orientation(bytes);
}

bool is_webp(std::string_view bytes) {
  return bytes.starts_with("RIFF") && bytes.size() >= 12 &&
         bytes.substr(8, 4) == "WEBP";
}

std::string webp_library() {
  const auto version = static_cast<unsigned>(::WebPGetDecoderVersion());
  return "libwebp " + std::to_string(version >> 16) + "." +
         std::to_string(version >> 8 & 0xFFU) + "." +
         std::to_string(version & 0xFFU);
}

}  // namespace

const PictureFormat kWebp = {"WebP", is_webp, read_webp, webp_library};

}  // namespace dl::vectorize
