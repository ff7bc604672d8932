// From the bytes of a file to its picture, whatever the format.
//
// The contents say what the format is.  Colors are as the file stores them: no
// color profile is applied, transparency is left out, of 16 bits the upper 8
// are taken, CMYK becomes RGB as Pillow makes it.  Of several pictures in a
// file it is the first.

#ifndef DL_LIBCORE_VECTORIZE_IMAGE_DECODE_H_
#define DL_LIBCORE_VECTORIZE_IMAGE_DECODE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "libcore/tensor/shape.h"
#include "libcore/vectorize/image/picture.h"

namespace dl::vectorize {

struct DecodeLimits {
  std::int64_t max_pixels = 100'000'000;
  // Where a reader can make the picture smaller at once and faster (JPEG: to
  // 1/2, 1/4 or 1/8), it does so as long as neither side, once upright, gets
  // below these.  0: it never does.
  std::int64_t least_width = 0, least_height = 0;
};

// The picture, upright.  Several threads may call it at the same time.
// Throws Error: kData, without a name of the file: it is no picture, of a kind
// that is not read, damaged, cut short, or has more pixels than allowed.
// Memory: what the pixels take, and as much again while a reader works.
void decode(std::string_view bytes, const DecodeLimits& limits, Picture& out);

// "": a file that begins so may be a picture that is read, else why it is none.
std::string no_picture(std::span<const std::byte> start);

// Decodes a JPEG file of upright pixels of just this shape [height, width,
// channels].  False: it is something else.
// Throws Error: kData, it is JPEG, and damaged.
bool decode_jpeg_of(std::string_view bytes, const tensor::Shape& shape,
                    std::span<std::byte> out);

// Turns a picture as its orientation says.
void make_upright(Picture& picture);

// Versions of the libraries that decide what pixels come out, by name.
std::map<std::string, std::string> decoder_versions();

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_IMAGE_DECODE_H_
