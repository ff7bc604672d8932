// The readers of picture files, one a file of this folder.
//
// To add one: its file, its line in decode.cpp, a line of dl-recipe(5), its
// seeds in tests/fuzz/corpus.

#ifndef DL_LIBCORE_VECTORIZE_IMAGE_FORMATS_H_
#define DL_LIBCORE_VECTORIZE_IMAGE_FORMATS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/vectorize/image/decode.h"

namespace dl::vectorize {

struct PictureFormat {
  const char* name;  // "JPEG"
  bool (*is)(std::string_view bytes);
  // Throws Error: kData; std::bad_alloc.
  void (*read)(std::string_view bytes, const DecodeLimits& limits,
               Picture& out);
  // Name and version of its library, "libspng 0.7.3"; null: it has none.
  std::string (*library)();
};

extern const PictureFormat kJpeg, kPng, kWebp, kTiff, kGif, kBmp, kPnm;

// Reads a PNG's numbers as they are stored, [height, width, 1]: of each pixel
// its grey or its place in the palette.
// Throws Error: kData, it is no such PNG, or one of 16 bits; std::bad_alloc.
void read_png_numbers(std::string_view bytes, const DecodeLimits& limits,
                      Picture& out);

// Throws Error: kData, "has 100000 x 100000 pixels, ...", or a side is 0.
void check_pixels(std::int64_t width, std::int64_t height,
                  const DecodeLimits& limits);

// The orientation in an EXIF block, which begins as a TIFF file does; 1 where
// there is none that makes sense.
int exif_orientation(std::string_view tiff);

// Little- and big-endian numbers of a file, which must be there.
inline std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}
inline std::uint32_t little16(std::string_view bytes, std::size_t at) {
  return byte_at(bytes, at) | byte_at(bytes, at + 1) << 8;
}
inline std::uint32_t little32(std::string_view bytes, std::size_t at) {
  return little16(bytes, at) | little16(bytes, at + 2) << 16;
}
inline std::uint32_t big16(std::string_view bytes, std::size_t at) {
  return byte_at(bytes, at) << 8 | byte_at(bytes, at + 1);
}
inline std::uint32_t big32(std::string_view bytes, std::size_t at) {
  return big16(bytes, at) << 16 | big16(bytes, at + 2);
}

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_IMAGE_FORMATS_H_
