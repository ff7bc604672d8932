// WebP, by libwebp: a picture, or the first one of an animation.

#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>

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

// Whether all that the file says it has is there and in its place: the decoder
// looks at the pixels alone.
void check_chunks(std::string_view bytes) {
  const WebPData data{reinterpret_cast<const std::uint8_t*>(bytes.data()),
                      bytes.size()};
  const std::unique_ptr<WebPDemuxer, decltype(&::WebPDemuxDelete)> chunks(
      ::WebPDemux(&data), ::WebPDemuxDelete);
  if (!chunks) bad_data("it is damaged or cut short");
}

// The canvas of an animation with its first picture, without transparency.
void read_first(std::string_view bytes, Picture& out) {
  const WebPData data{reinterpret_cast<const std::uint8_t*>(bytes.data()),
                      bytes.size()};
  WebPAnimDecoderOptions options;
  if (::WebPAnimDecoderOptionsInit(&options) == 0)
    bad_data("this program was built for another libwebpdemux");
  options.color_mode = MODE_RGBA;
  const std::unique_ptr<WebPAnimDecoder, decltype(&::WebPAnimDecoderDelete)>
      decoder(::WebPAnimDecoderNew(&data, &options), ::WebPAnimDecoderDelete);
  std::uint8_t* pixels = nullptr;
  int time = 0;
  if (!decoder || ::WebPAnimDecoderGetNext(decoder.get(), &pixels, &time) == 0)
    bad_data("it is damaged or cut short");
  for (std::size_t i = 0; i < out.pixels.size(); i += 3, pixels += 4)
    std::copy_n(pixels, 3, out.pixels.begin() + static_cast<std::ptrdiff_t>(i));
}

void read_webp(std::string_view bytes, const DecodeLimits& limits,
               Picture& out) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  WebPBitstreamFeatures features;
  const VP8StatusCode status = ::WebPGetFeatures(data, bytes.size(), &features);
  if (status == VP8_STATUS_NOT_ENOUGH_DATA) bad_data("it is cut short");
  if (status != VP8_STATUS_OK) bad_data("it is damaged");
  check_pixels(features.width, features.height, limits);
  check_chunks(bytes);
  out.reshape(features.width, features.height, 3);
  out.orientation = webp_orientation(bytes);
  if (features.has_animation != 0) return read_first(bytes, out);
  if (::WebPDecodeRGBInto(data, bytes.size(), out.pixels.data(),
                          out.pixels.size(),
                          static_cast<int>(out.stride())) == nullptr)
    bad_data("it is damaged or cut short");
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
