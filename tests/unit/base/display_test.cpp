// The text of a file as it gets to a terminal.

#include "libcore/base/display.h"

#include <catch2/catch.hpp>

namespace dl::display_test {

namespace dl {
namespace {

TEST_CASE("control characters are displayed in C style") {
  CHECK(displayed("\x1b[2J\n\tx\r\x7f\a") == "\\x1b[2J\\n\\tx\\r\\x7f\\a");
  CHECK(displayed(std::string_view("a\0b", 3)) == "a\\x00b");
  // C1, in UTF-8 and as a byte of its own.
  CHECK(displayed("\xc2\x9b"
                  "2J\x9b") == "\\xc2\\x9b2J\\x9b");
  CHECK(in_quotes("a\nb") == "'a\\nb'");
  CHECK(displayed_lines("a\n\x1b") == "a\n\\x1b");
}

TEST_CASE("text is displayed as it is, and what is displayed stays") {
  for (const char* text : {"", "a b'c\\n", "caf\xc3\xa9",
                           "\xe2\x82\xac \xf0\x9f\x90\x88", "\xc2\xa0"})
    CHECK(displayed(text) == text);
  const std::string once = displayed("\x1b\xff\n");
  CHECK(displayed(once) == once);
}

TEST_CASE("what is no UTF-8 is displayed byte by byte") {
  CHECK(displayed("caf\xe9 x") == "caf\\xe9 x");
  CHECK(displayed("\xc3") == "\\xc3");
  CHECK(displayed("\xc0\xaf") == "\\xc0\\xaf");           // too long
  CHECK(displayed("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // half a pair
  CHECK(displayed("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK(is_utf8("caf\xc3\xa9"));
  CHECK_FALSE(is_utf8("caf\xe9"));
  for (std::size_t at = 0; at < 20; ++at) {
    std::string text(20, 'x');
    CHECK(is_utf8(std::string(text).insert(at, "\xe2\x82\xac")));
    text[at] = '\xe9';
    CHECK_FALSE(is_utf8(text));
  }
}

}  // namespace
}  // namespace dl

}  // namespace dl::display_test
