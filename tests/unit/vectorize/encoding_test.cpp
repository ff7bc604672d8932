// Text of other encodings, as UTF-8.

#include "libcore/vectorize/source/encoding.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <span>
#include <string>

#include "libcore/io/source.h"
#include "libcore/vectorize/raw_input.h"
#include "tests/unit/error_of.h"
#include "tests/unit/vectorize/files.h"

namespace dl::vectorize::encoding_test {

namespace {

// All of a table's text, `step` bytes at a time.
std::string text_of(const std::string& path, const std::string& given,
                    std::size_t step = 1000) {
  RawInput input(path, RawInput::Kind::kTable, given);
  std::string text;
  while (input.append(text, step)) {
  }
  return text;
}

}  // namespace

TEST_CASE("tables by their byte order mark, or as told") {
  test::Files files;
  using namespace std::string_literals;
  const std::string little =
      files.write("le", "\xff\xfe"s + "a\0,\0\xe9\0\n\0"s);
  CHECK(text_of(little, "") == "a,\u00e9\n");
  CHECK(text_of(little, "utf-16le", 1) == "a,\u00e9\n");
  CHECK(RawInput(little, RawInput::Kind::kTable).marked_encoding() == "UTF-16");
  const std::string big = files.write("be", "\xfe\xff"s + "\0a\0,\0\xe9\0\n"s);
  CHECK(text_of(big, "") == "a,\u00e9\n");
  const std::string latin = files.write("latin", "caf\xe9,\x80\n");
  CHECK(text_of(latin, "windows-1252") == "caf\u00e9,\u20ac\n");
  CHECK(text_of(latin, "UTF-8") == "caf\xe9,\x80\n");
  CHECK(text_of(files.write("mark", "\xef\xbb\xbfx"), "utf8") == "x");
  CHECK(text_of(files.write("none", ""), "latin1").empty());
  CHECK(error_of([&] { text_of(little, "latin1"); })
            .ends_with("/le' is UTF-16, as its byte order mark says, and not "
                       "latin1: leave that encoding out for it"));
  CHECK(
      error_of([&] { text_of(files.write("plain", "a\0,\0b\0"s), ""); })
          .ends_with("/plain' seems to be UTF-16LE without a byte order mark: "
                     "say --encoding UTF-16LE, or \"encoding\" in a recipe"));
}

TEST_CASE("bytes that are no characters are told with their line") {
  test::Files files;
  using namespace std::string_literals;
  CHECK(error_of(
            [&] { text_of(files.write("x", "a\nb\n\x81\n"), "windows-1252"); })
            .ends_with("/x', line 3: byte 0x81 begins no character of "
                       "windows-1252"));
  CHECK(error_of([&] {
          text_of(files.write("y", "\xff\xfe"s + "a\0b"s), "");
        }).ends_with("/y' ends within a character of UTF-16"));
}

TEST_CASE("names of encodings") {
  CHECK(is_encoding("latin1"));
  CHECK(!is_encoding(""));
  CHECK(!is_encoding("latin-one"));
  CHECK(!is_encoding("latin1//TRANSLIT"));
  CHECK(is_encoding_of("utf-16le", "UTF-16"));
  CHECK(is_encoding_of("UTF_8", "utf8"));
  CHECK(!is_encoding_of("latin1", "UTF-8"));
}

}  // namespace dl::vectorize::encoding_test
