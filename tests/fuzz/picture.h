// One reader of pictures under the fuzzer: any bytes are a picture, or refused
// with kData, and no more pixels than allowed come out.

#ifndef DL_TESTS_FUZZ_PICTURE_H_
#define DL_TESTS_FUZZ_PICTURE_H_

#include <cstdlib>
#include <new>

#include "libcore/base/error.h"
#include "libcore/vectorize/image/formats.h"

namespace dl::vectorize {

inline int fuzz(const PictureFormat& format, const std::uint8_t* data,
                std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!format.is(bytes)) return 0;
  DecodeLimits limits;
  limits.max_pixels = 1 << 16;
  limits.least_width = limits.least_height =
      size % 2 == 0 ? 0 : std::int64_t{4};
  Picture picture;
  try {
    format.read(bytes, limits, picture);
    if (picture.width < 1 || picture.height < 1 ||
        picture.width * picture.height > limits.max_pixels ||
        (picture.channels != 1 && picture.channels != 3) ||
        picture.pixels.size() !=
            static_cast<std::size_t>(picture.stride() * picture.height))
      std::abort();
    make_upright(picture);
  } catch (const Error& e) {
    if (e.code() != Code::kData) std::abort();
  } catch (const std::bad_alloc&) {  // decode() makes a sentence of it
  }
  return 0;
}

}  // namespace dl::vectorize

#endif  // DL_TESTS_FUZZ_PICTURE_H_
