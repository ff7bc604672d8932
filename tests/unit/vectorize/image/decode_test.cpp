#include "libcore/vectorize/image/decode.h"

#include <catch2/catch.hpp>

#include "libcore/vectorize/image/formats.h"
#include "tests/unit/error_of.h"

namespace dl::vectorize::decode_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Picture decoded(std::string_view bytes, std::int64_t max_pixels = 1000) {
  Picture picture;
  DecodeLimits limits;
  limits.max_pixels = max_pixels;
  decode(bytes, limits, picture);
  return picture;
}

std::string refused(std::string_view bytes) {
  return error_of([&] { decoded(bytes); });
}

// A picture of 3 x 2 pixels, each with a number of its own.
Picture numbered(int orientation) {
  Picture picture;
  picture.reshape(3, 2, 1);
  picture.pixels = {1, 2, 3, 4, 5, 6};
  picture.orientation = orientation;
  return picture;
}

}  // namespace

TEST_CASE("a picture is turned as EXIF says") {
  const Bytes wanted[] = {{1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4},
                          {6, 5, 4, 3, 2, 1}, {4, 5, 6, 1, 2, 3},
                          {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3},
                          {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  for (int way = 1; way <= 8; ++way) {
    Picture picture = numbered(way);
    make_upright(picture);
    INFO(way);
    CHECK(picture.pixels == wanted[way - 1]);
    CHECK(picture.width == (way < 5 ? 3 : 2));
    CHECK(picture.orientation == 1);
  }
}

TEST_CASE("an orientation that makes no sense is none") {
  using namespace std::literals;
  const std::string start =
      "II*\0\10\0\0\0\1\0\x12\1\3\0\1\0\0\0"s;  // one entry, of the tag
  CHECK(exif_orientation(start + "\6\0\0\0"s) == 6);
  CHECK(exif_orientation(start + "\11\0\0\0"s) == 1);
  CHECK(exif_orientation(start) == 1);
  CHECK(exif_orientation("MM\0*\0\0\0\10\0\1\1\x12\0\3\0\0\0\1\0\3\0\0"sv) ==
        3);
  CHECK(exif_orientation("II*\0\xFF\xFF\xFF\xFF"sv) == 1);
  CHECK(exif_orientation("") == 1);
}

TEST_CASE("contents say what a picture is") {
  CHECK(decoded("P5 2 1 255\n\1\2").pixels == Bytes{1, 2});
  CHECK(decoded("P2 # a comment\n2 1\n15\n 0 15").pixels == Bytes{0, 255});
  CHECK(decoded("P1 3 1 0 1\n1").pixels == Bytes{255, 0, 0});
  CHECK(decoded(std::string_view("P4 3 1\n\x40")).pixels == Bytes{255, 0, 255});
  const Picture colors = decoded("P6 1 1 255\nabc");
  CHECK(colors.pixels == Bytes{'a', 'b', 'c'});
  CHECK(colors.channels == 3);
  CHECK(decoded(std::string_view("P5 1 1 65535\n\x80\x00", 15)).pixels ==
        Bytes{128});
}

TEST_CASE("pictures that are none are refused") {
  using namespace std::literals;
  CHECK(refused("") == "65: it is empty");
  CHECK(refused("P5 2 1 255\n\1") == "65: PNM: it is cut short");
  CHECK(refused("P5 2 x") == "65: PNM: it is damaged");
  CHECK(refused("P5 0 1 255\n") == "65: PNM: a picture of 0 x 1 pixels");
  CHECK(refused("P5 40 40 255\n") ==
        "65: PNM: it has 40 x 40 pixels, want 1000 at most (max_pixels)");
  CHECK(refused("P5 2000000 1 255\n") ==
        "65: PNM: it has 2000000 x 1 pixels, want 1048576 a side at most");
  CHECK(refused("P2 9 9 255 1 2") == "65: PNM: it is cut short");
  CHECK_THAT(refused("hello, I am a text of some length"),
             Catch::Contains("it is no picture that is read (text"));
  CHECK_THAT(refused("\x89PNG\r\n\x1A\n"), Catch::Contains("65: PNG: "));
  CHECK_THAT(refused("\xFF\xD8\xFF\xE0"), Catch::Contains("65: JPEG: "));
  CHECK_THAT(refused("GIF89a"), Catch::Contains("65: GIF: "));
  CHECK_THAT(refused("RIFF\4\0\0\0WEBP"sv), Catch::Contains("65: WebP: "));
  CHECK_THAT(refused("MM\0*"sv), Catch::Contains("65: "));
}

TEST_CASE("numbers of PNM's text that cannot be are damage") {
  CHECK(refused("P2 1 1 15 16") ==
        "65: PNM: it is damaged (a number above its largest)");
  CHECK(refused("P2 2 1 15 1x 2") == "65: PNM: it is damaged (a number)");
  CHECK(decoded("P2 2 1 15 15# the largest\n0").pixels == Bytes{255, 0});
  // Larger bytes are the largest.
  CHECK(decoded("P5 1 1 15 \x20").pixels == Bytes{255});
}

TEST_CASE("codes of GIF that are none are damage") {
  using namespace std::literals;
  // A screen of 2 x 1 with the colors 0 to 3, and a picture on all of it.
  const std::string start =
      "GIF89a\2\0\1\0\x81\0\0"s
      "\0\0\0\1\1\1\2\2\2\3\3\3"s
      ",\0\0\0\0\2\0\1\0\0\2"s;
  const auto gif = [&](const std::string& codes) {
    return start + static_cast<char>(codes.size()) + codes + "\0;"s;
  };
  // Codes of 3 bits, the first lowest: clear is 4, the end 5.
  CHECK(decoded(gif("\x44\x0A"s)).pixels == Bytes{0, 0, 0, 1, 1, 1});
  // 6 is the row that it makes itself: 1 1.
  CHECK(decoded(gif("\x8C\x0B"s)).pixels == Bytes{1, 1, 1, 1, 1, 1});
  CHECK(refused(gif("\xC4\x01"s)) ==
        "65: GIF: it is damaged (a code that is none)");
  CHECK(refused(gif("\x34\0"s)) ==
        "65: GIF: it is damaged (a code that is none)");
  CHECK(refused(gif("\x44\x01"s)) == "65: GIF: its picture is cut short");
}

TEST_CASE("palettes of BMP that are not there are damage") {
  using namespace std::literals;
  std::string bmp =
      "BM\0\0\0\0\0\0\0\0\x3E\0\0\0\x28\0\0\0"s
      "\1\0\0\0\1\0\0\0\1\0\1\0\0\0\0\0\0\0\0\0"s
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"s
      "\1\2\3\0\4\5\6\0\x80\0\0\0"s;
  CHECK(decoded(bmp).pixels == Bytes{6, 5, 4});
  bmp[48] = 9;  // colors: 9 << 16
  CHECK(refused(bmp) == "65: BMP: it is damaged (colors of its palette)");
}

}  // namespace dl::vectorize::decode_test
