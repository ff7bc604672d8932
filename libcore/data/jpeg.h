// JPEG, by libjpeg-turbo: with its defaults (the accurate integer transform,
// smooth upsampling of colors), as Pillow has them.

#ifndef DL_LIBCORE_DATA_JPEG_H_
#define DL_LIBCORE_DATA_JPEG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/tensor/shape.h"

namespace dl::data {

// A decoder of one file after the other, the calls in this order.
class JpegReader {
 public:
  JpegReader();
  ~JpegReader();
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  struct Header {
    std::int64_t width = 0, height = 0;
    int components = 0;  // 1 of grey, 3 of color, 4 of ink
    bool adobe = false;
    std::string_view exif;  // as a TIFF file; there until the next header()
  };
  // bytes: outlive read().  Throws Error: kData, "it is cut short", "it is
  // damaged (...)"; so do start() and read().
  Header header(std::string_view bytes);

  struct Size {
    std::int64_t width = 0, height = 0;
    int channels = 0;  // 1 of grey, 3 of RGB, 4 of CMYK
  };
  // denominator: 1, 2, 4 or 8, what the picture is made smaller by.
  Size start(unsigned denominator = 1);
  void read(std::uint8_t* to, std::size_t stride);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A file of a picture [height, width, 1 or 3], with colors of half the size as
// Pillow writes it.  quality: 1..100.
void write_jpeg(std::span<const std::uint8_t> pixels,
                const tensor::Shape& shape, int quality,
                std::vector<std::byte>& out);

// Decodes a file into the pixels of a picture of just that shape.
// Throws Error: kData, it is damaged, or of another shape.
void read_jpeg_pixels(std::span<const std::byte> file,
                      const tensor::Shape& shape, std::span<std::byte> to);

// "libjpeg-turbo 2.1.5"
std::string jpeg_library();

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_JPEG_H_
