// Marks before text.

#include "libcore/base/byte_order_mark.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/json.h"

namespace dl::byte_order_mark_test {

using namespace std::string_literals;

TEST_CASE("a byte order mark of UTF-8 is passed over, once") {
  CHECK(without_byte_order_mark("\xEF\xBB\xBF"
                                "ab") == "ab");
  CHECK(without_byte_order_mark("\xEF\xBB\xBF\xEF\xBB\xBF") == "\xEF\xBB\xBF");
  for (const char* text : {"", "ab", "\xEF", "\xEF\xBB", "a\xEF\xBB\xBF"})
    CHECK(without_byte_order_mark(text) == text);
}

TEST_CASE("UTF-16 and UTF-32 are recognized with a mark and without") {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"\xff\xfe{\0"s, "UTF-16"},
      {"\xfe\xff\0{"s, "UTF-16"},
      {"\xff\xfe"s, "UTF-16"},
      {"{\0}\0"s, "UTF-16LE"},
      {"{\0"s, "UTF-16LE"},
      {"\0{\0}"s, "UTF-16BE"},
      {"\xff\xfe\0\0{\0\0\0"s, "UTF-32"},
      {"\0\0\xfe\xff\0\0\0{"s, "UTF-32"},
      {"{\0\0\0"s, "UTF-32LE"},
      {"\0\0\0{"s, "UTF-32BE"},
      {""s, ""},
      {"{"s, ""},
      {"{}"s, ""},
      {"\xEF\xBB\xBF{}"s, ""},
      {"\0\0"s, ""}};
  for (const auto& [text, encoding] : texts)
    CHECK(wide_encoding(text) == encoding);
}

TEST_CASE("JSON may have a mark, and is not UTF-16") {
  CHECK(parse_json("\xEF\xBB\xBF{\"a\": 1}", "'x'", Code::kConfig) ==
        Json{{"a", 1}});
  try {
    parse_json("\xff\xfe{\0}\0"s, "'x'", Code::kConfig);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == Code::kConfig);
    CHECK(error.what() ==
          "'x' is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8 FILE"s);
  }
}

}  // namespace dl::byte_order_mark_test
