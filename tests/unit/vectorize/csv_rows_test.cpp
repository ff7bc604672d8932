#include "libcore/vectorize/csv_rows.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>

#include "libcore/base/error.h"
#include "libcore/vectorize/text_blocks.h"
#include "tests/unit/vectorize/files.h"

namespace dl::vectorize::csv_rows_test {

using vectorize::CsvRows;

namespace {

std::vector<std::vector<std::string>> rows(const std::string& text) {
  test::Files files;
  TextBlocks input(files.write("x.csv", text), ',');
  std::vector<std::vector<std::string>> result;
  for (InputBlock block; input.next(block, 1 << 20);) {
    CsvRows reader(block, block.delimiter);
    while (reader.next()) {
      result.emplace_back();
      for (std::size_t i = 0; i < reader.size(); ++i)
        result.back().emplace_back(reader.field(i));
    }
  }
  return result;
}

using Rows = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("plain rows, with and without a last newline, LF and CR LF") {
  CHECK(rows("a,b\nc,d\n") == Rows{{"a", "b"}, {"c", "d"}});
  CHECK(rows("a,b\r\nc,d") == Rows{{"a", "b"}, {"c", "d"}});
  CHECK(rows("a,\n,b\n") == Rows{{"a", ""}, {"", "b"}});
  CHECK(rows("\n\na\n\n") == Rows{{"a"}});
  CHECK(rows("").empty());
}

TEST_CASE("fields of every length end where they end") {
  std::vector<std::string> row;
  std::string text;
  for (std::size_t n = 0; n < 40; ++n) {
    row.emplace_back(n, static_cast<char>('a' + n % 26));
    text += (n > 0 ? "," : "") + row.back();
  }
  for (const char* end : {"", "\n", "\r\n"})
    CHECK(rows(text + end) == std::vector<std::vector<std::string>>{row});
  // Bytes above 127 are no delimiters.
  CHECK(rows(std::string(20, '\xAC') + ",\xAC\n")[0].size() == 2);
}

TEST_CASE("quoted fields hold delimiters, quotes and line breaks") {
  CHECK(rows("\"a,b\",\"c\"\"d\"\n") == Rows{{"a,b", "c\"d"}});
  CHECK(rows("\"a\nb\",c\n\"\",d\n") == Rows{{"a\nb", "c"}, {"", "d"}});
}

TEST_CASE("lines that end in CR alone get a hint") {
  for (const char* text : {"a,b\rc,d\r", "a\rb\r\nc\r\n", "a\r\r\n"}) try {
      rows(text);
      FAIL("no error for " << text);
    } catch (const Error& error) {
      CHECK_THAT(error.what(),
                 Catch::Contains("x.csv', line 1: has a CR without LF") &&
                     Catch::EndsWith(R"('pipe:tr "\r" "\n" <FILE')"));
    }
  CHECK(rows("a,b\nc\rc,d\n") == Rows{{"a", "b"}, {"c\rc", "d"}});
  CHECK(rows("\"a\rb\",c\n") == Rows{{"a\rb", "c"}});
}

TEST_CASE("a byte order mark is passed over") {
  CHECK(rows("\xEF\xBB\xBF"
             "a,b\n") == Rows{{"a", "b"}});
  // Letters that begin as one, and what is cut.
  CHECK(rows("\xEF\xBC\xAE,b\n") == Rows{{"\xEF\xBC\xAE", "b"}});
  CHECK(rows("\xEF\xBB\xB3,b\n") == Rows{{"\xEF\xBB\xB3", "b"}});
  CHECK(rows("\xEF") == Rows{{"\xEF"}});
}

TEST_CASE("a first line sep=; gives the delimiter") {
  CHECK(rows("sep=;\na;b,c\n") == Rows{{"a", "b,c"}});
  CHECK(rows("\xEF\xBB\xBFsep=\t\r\na\tb\r\n") == Rows{{"a", "b"}});
  CHECK(rows("a,b\nsep=;\n") == Rows{{"a", "b"}, {"sep=;"}});
  CHECK(rows("sep=12,b\n") == Rows{{"sep=12", "b"}});
  CHECK(rows("sep=;") == Rows{});
}

TEST_CASE("UTF-16 is refused, with a mark and without") {
  using namespace std::string_literals;
  for (const std::string& text :
       {"\xff\xfe"
        "a\0,\0b\0\n\0"s,
        "\xfe\xff\0a\0,\0b\0\n"s, "a\0,\0b\0\n\0"s, "\0a\0,\0b\0\n"s})
    try {
      rows(text);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == Code::kData);
      CHECK_THAT(error.what(), Catch::Contains("x.csv' is UTF-16 text") &&
                                   Catch::Contains("iconv -f UTF-16"));
    }
}

TEST_CASE("broken quoting is an error with its line") {
  for (const char* text : {"a\n\"b", "a\n\"b\"c,d\n"}) {
    try {
      rows(text);
      FAIL("no error for " << text);
    } catch (const Error& error) {
      CHECK(error.code() == Code::kData);
      CHECK_THAT(error.what(), Catch::Contains("x.csv', line 2: "));
    }
  }
}

}  // namespace dl::vectorize::csv_rows_test
