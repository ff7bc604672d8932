// Resizing beside Pillow 13, whose results are here as checksums, and fitting.

#include "libcore/vectorize/image/resize.h"

#include <zlib.h>

#include <catch2/catch.hpp>

#include "libcore/vectorize/image/fit.h"

namespace dl::vectorize::resize_test {
namespace {

Picture drawn(std::int64_t width, std::int64_t height, std::int64_t channels) {
  Picture picture;
  picture.reshape(width, height, channels);
  auto out = picture.pixels.begin();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < channels; ++c)
        *out++ = static_cast<std::uint8_t>(x * x * 7 + y * 13 + x * y * 3 +
                                           c * 91 + (x * 31 ^ y * 17));
  return picture;
}

struct Case {
  std::int64_t channels, width, height, new_width, new_height;
  Filter filter;
  std::uint32_t crc;  // of Pillow's pixels
};

// By tests/peers/pictures.py's Pillow 13.0.
constexpr Case kCases[] = {
    {1, 37, 53, 16, 20, Filter::kNearest, 0x9c410634U},
    {1, 37, 53, 16, 20, Filter::kBilinear, 0xa61d9578U},
    {1, 37, 53, 16, 20, Filter::kBicubic, 0x97dc74d8U},
    {1, 37, 53, 16, 20, Filter::kLanczos, 0x2858def9U},
    {1, 37, 53, 90, 71, Filter::kNearest, 0x27ceb41dU},
    {1, 37, 53, 90, 71, Filter::kBilinear, 0x29d3caf2U},
    {1, 37, 53, 90, 71, Filter::kBicubic, 0x42784420U},
    {1, 37, 53, 90, 71, Filter::kLanczos, 0x5e1e3c12U},
    {1, 64, 9, 5, 9, Filter::kNearest, 0xb36294a6U},
    {1, 64, 9, 5, 9, Filter::kBilinear, 0x30f74bbdU},
    {1, 64, 9, 5, 9, Filter::kBicubic, 0x5a7b01a4U},
    {1, 64, 9, 5, 9, Filter::kLanczos, 0x595c88c4U},
    {1, 9, 200, 7, 33, Filter::kNearest, 0xeee2ecf5U},
    {1, 9, 200, 7, 33, Filter::kBilinear, 0x4cbe0b17U},
    {1, 9, 200, 7, 33, Filter::kBicubic, 0x4f0e7499U},
    {1, 9, 200, 7, 33, Filter::kLanczos, 0x6623dc28U},
    {3, 37, 53, 16, 20, Filter::kNearest, 0xd4430bd9U},
    {3, 37, 53, 16, 20, Filter::kBilinear, 0xbda7fe78U},
    {3, 37, 53, 16, 20, Filter::kBicubic, 0x54be17dfU},
    {3, 37, 53, 16, 20, Filter::kLanczos, 0x40f03493U},
    {3, 37, 53, 90, 71, Filter::kNearest, 0xf6c076cfU},
    {3, 37, 53, 90, 71, Filter::kBilinear, 0x17cdbb04U},
    {3, 37, 53, 90, 71, Filter::kBicubic, 0xc16bc1cfU},
    {3, 37, 53, 90, 71, Filter::kLanczos, 0xdfb23873U},
    {3, 64, 9, 5, 9, Filter::kNearest, 0xffb4cd35U},
    {3, 64, 9, 5, 9, Filter::kBilinear, 0x4039167aU},
    {3, 64, 9, 5, 9, Filter::kBicubic, 0xcbc50078U},
    {3, 64, 9, 5, 9, Filter::kLanczos, 0x57183389U},
    {3, 9, 200, 7, 33, Filter::kNearest, 0x7db6968bU},
    {3, 9, 200, 7, 33, Filter::kBilinear, 0x73055b3eU},
    {3, 9, 200, 7, 33, Filter::kBicubic, 0xad0984e1U},
    {3, 9, 200, 7, 33, Filter::kLanczos, 0x7b91fd88U},
};

}  // namespace

TEST_CASE("pictures are resized to the bytes that Pillow gives") {
  Resizer resizer;  // one for all: weights of one size do for no other
  for (const Case& c : kCases) {
    Picture out;
    resizer.resize(drawn(c.width, c.height, c.channels), c.new_width,
                   c.new_height, c.filter, out);
    INFO(c.channels << " channels, " << c.width << "x" << c.height << " to "
                    << c.new_width << "x" << c.new_height << ", filter "
                    << static_cast<int>(c.filter));
    CHECK(out.width == c.new_width);
    CHECK(out.height == c.new_height);
    CHECK(::crc32(0, out.pixels.data(),
                  static_cast<unsigned>(out.pixels.size())) == c.crc);
  }
}

TEST_CASE("a picture is resized to cover a size, to lie within, or to it") {
  const auto size = [](std::int64_t width, std::int64_t height, Fit fit,
                       std::int64_t shorter = 0) {
    const auto [w, h] =
        resized_to(width, height, {100, 50, fit, Filter::kBilinear, shorter});
    return std::pair(w, h);
  };
  using Size = std::pair<std::int64_t, std::int64_t>;
  CHECK(size(400, 300, Fit::kCrop) == Size{100, 75});
  CHECK(size(500, 100, Fit::kCrop) == Size{250, 50});
  CHECK(size(400, 300, Fit::kPad) == Size{67, 50});
  CHECK(size(1000, 10, Fit::kPad) == Size{100, 1});
  CHECK(size(1, 100000, Fit::kPad) == Size{1, 50});
  CHECK(size(400, 300, Fit::kStretch) == Size{100, 50});
  CHECK(size(400, 300, Fit::kCrop, 128) == Size{170, 128});
  CHECK(size(300, 400, Fit::kCrop, 128) == Size{128, 170});
}

TEST_CASE("what is beyond a picture is black, and the middle is taken") {
  Picture grey;
  grey.reshape(2, 2, 1);
  grey.pixels = {1, 2, 3, 4};
  std::vector<std::uint8_t> out(8, 99);
  Fitter({4, 2, Fit::kPad, Filter::kNearest}).fit(grey, out.data());
  CHECK(out == std::vector<std::uint8_t>{0, 1, 2, 0, 0, 3, 4, 0});
  grey.reshape(4, 1, 1);
  grey.pixels = {1, 2, 3, 4};
  std::vector<std::uint8_t> middle(2);
  Fitter({2, 1, Fit::kCrop, Filter::kNearest}).fit(grey, middle.data());
  CHECK(middle == std::vector<std::uint8_t>{2, 3});
}

}  // namespace dl::vectorize::resize_test
