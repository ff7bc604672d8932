// PNG, by libspng.

#include <spng.h>

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
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

bool is_text_chunk(std::string_view type) {
  return type == "tEXt" || type == "zTXt" || type == "iTXt";
}

// The file without its texts, which are none of the picture, and of which
// libspng takes a thousand.
std::string without_texts(std::string_view bytes) {
  constexpr std::size_t kSignature = 8, kAround = 12;  // length, type, sum
  std::string rest(bytes.substr(0, kSignature));
  std::size_t at = kSignature;
  while (at + kAround <= bytes.size()) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i)
      length = length << 8 | static_cast<unsigned char>(bytes[at + i]);
    if (length > bytes.size() - at - kAround) break;
    if (!is_text_chunk(bytes.substr(at + 4, 4)))
      rest.append(bytes, at, kAround + length);
    at += kAround + length;
  }
  return rest.append(bytes, std::min(at, bytes.size()));
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

using Png = std::unique_ptr<spng_ctx, void (*)(spng_ctx*)>;

// bytes: without_texts(); they outlive the result.
Png open_png(const std::string& bytes, const DecodeLimits& limits,
             spng_ihdr& header) {
  Png png(::spng_ctx_new(0), ::spng_ctx_free);
  if (png == nullptr) throw std::bad_alloc();
  ::spng_set_chunk_limits(png.get(), kMaxChunk, kMaxChunks);
  // A text that is damaged is none of the picture.
  ::spng_set_crc_action(png.get(), SPNG_CRC_ERROR, SPNG_CRC_DISCARD);
  check_png(::spng_set_png_buffer(png.get(), bytes.data(), bytes.size()));
  check_png(::spng_get_ihdr(png.get(), &header));
  check_pixels(header.width, header.height, limits);
  return png;
}

void read_png(std::string_view bytes, const DecodeLimits& limits,
              Picture& out) {
  spng_ihdr header{};
  const std::string picture = without_texts(bytes);
  const Png owner = open_png(picture, limits, header);
  spng_ctx* png = owner.get();
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

void read_png_numbers(std::string_view bytes, const DecodeLimits& limits,
                      Picture& out) {
  if (!is_png(bytes)) bad_data("it is no PNG, as masks are");
  spng_ihdr header{};
  const std::string picture = without_texts(bytes);
  const Png png = open_png(picture, limits, header);
  if (header.color_type != SPNG_COLOR_TYPE_GRAYSCALE &&
      header.color_type != SPNG_COLOR_TYPE_INDEXED)
    bad_data("its pixels have several numbers: want grey, or a palette");
  if (header.bit_depth > 8) bad_data("its numbers have 16 bits: want 8");
  std::size_t size = 0;
  check_png(::spng_decoded_image_size(png.get(), SPNG_FMT_PNG, &size));
  std::vector<std::uint8_t> packed(size);
  check_png(
      ::spng_decode_image(png.get(), packed.data(), size, SPNG_FMT_PNG, 0));
  out.reshape(header.width, header.height, 1);
  const std::size_t width = header.width, bits = header.bit_depth,
                    row = (width * bits + 7) / 8;
  require(size == row * header.height, "a PNG of another size");
  const unsigned mask = (1U << bits) - 1;
  for (std::size_t i = 0; i < out.pixels.size(); ++i) {
    const std::size_t at = i % width * bits;
    const unsigned byte = packed[i / width * row + at / 8];
    out.pixels[i] =
        static_cast<std::uint8_t>((byte >> (8 - bits - at % 8)) & mask);
  }
  out.orientation = orientation_of(png.get());
}

const PictureFormat kPng = {"PNG", is_png, read_png, png_library};

}  // namespace dl::vectorize
