// PNG, by libspng.

#include <spng.h>

#include <memory>
#include <new>
#include <span>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/image/formats.h"

namespace dl::vectorize {
namespace {

// Limits of text and profiles beside the pixels.
constexpr std::size_t kMaxChunk = 8 << 20, kMaxChunks = 32 << 20;

void check_png(int result) {
  if (result == 0) return;
  if (result == SPNG_IO_EOF) bad_data("it is cut short");
  bad_data("it is damaged (" + displayed(::spng_strerror(result)) + ")");
}

int orientation_of(spng_ctx* png) {
  spng_exif exif{};
  if (::spng_get_exif(png, &exif) != 0) return 1;
  return exif_orientation({exif.data, exif.length});
}

// The upper bytes of 16-bit numbers, which lie in the machine's order.
void take_upper(std::span<const std::uint16_t> from, std::size_t channels,
                Picture& out) {
  const auto wanted = static_cast<std::size_t>(out.channels);
  for (std::size_t i = 0, o = 0; o < out.pixels.size(); i += channels)
    for (std::size_t c = 0; c < wanted; ++c)
      out.pixels[o++] = static_cast<std::uint8_t>(from[i + c] >> 8);
}

void leave_out_alpha(std::span<const std::uint8_t> from, Picture& out) {
  const auto wanted = static_cast<std::size_t>(out.channels);
  for (std::size_t i = 0, o = 0; o < out.pixels.size(); i += wanted + 1)
    for (std::size_t c = 0; c < wanted; ++c) out.pixels[o++] = from[i + c];
}

void read_png(std::string_view bytes, const DecodeLimits& limits,
              Picture& out) {
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> owner(::spng_ctx_new(0),
                                                             ::spng_ctx_free);
  spng_ctx* png = owner.get();
  if (png == nullptr) throw std::bad_alloc();
  ::spng_set_chunk_limits(png, kMaxChunk, kMaxChunks);
  // A text that is damaged is none of the picture.
  ::spng_set_crc_action(png, SPNG_CRC_ERROR, SPNG_CRC_DISCARD);
  check_png(::spng_set_png_buffer(png, bytes.data(), bytes.size()));
  spng_ihdr header{};
  check_png(::spng_get_ihdr(png, &header));
  check_pixels(header.width, header.height, limits);
  const bool grey = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE ||
                    header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
  const bool alpha = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ||
                     header.color_type == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
  const bool wide = header.bit_depth == 16;
  out.reshape(header.width, header.height, grey ? 1 : 3);
  // libspng has no grey of more than 8 bits, nor with alpha, but as stored; and
  // of more than 8 bits it would round.
  const bool stored = wide || (grey && alpha);
  const int format = stored ? SPNG_FMT_PNG : grey ? SPNG_FMT_G8 : SPNG_FMT_RGB8;
  std::size_t size = 0;
  check_png(::spng_decoded_image_size(png, format, &size));
  if (!stored) {
    require(size == out.pixels.size(), "a PNG of another size");
    check_png(::spng_decode_image(png, out.pixels.data(), size, format, 0));
  } else if (wide) {
    std::vector<std::uint16_t> numbers(size / 2);
    check_png(::spng_decode_image(png, numbers.data(), size, format, 0));
    take_upper(numbers, static_cast<std::size_t>(out.channels) + alpha, out);
  } else {
    std::vector<std::uint8_t> numbers(size);
    check_png(::spng_decode_image(png, numbers.data(), size, format, 0));
    leave_out_alpha(numbers, out);
  }
  out.orientation = orientation_of(png);
}

bool is_png(std::string_view bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1A\n");
}

std::string png_library() {
  return std::string("libspng ") + ::spng_version_string();
}

}  // namespace

const PictureFormat kPng = {"PNG", is_png, read_png, png_library};

}  // namespace dl::vectorize
