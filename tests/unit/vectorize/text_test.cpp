#include "libcore/vectorize/text.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "libcore/vectorize/count_lines.h"

namespace dl::vectorize::text_test {
namespace {

std::uint64_t bits_of(const std::string& text) {
  double value = 0;
  REQUIRE(parse_number(text, value));
  return std::bit_cast<std::uint64_t>(value);
}
std::uint64_t right_bits_of(const std::string& text) {
  return std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr));
}

TEST_CASE("numbers of few digits are rounded as all others") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    std::string text = random() % 2 == 0 ? "-" : "";
    const std::size_t digits = 1 + random() % 18;
    const std::size_t point = 1 + random() % digits;
    for (std::size_t at = 0; at < digits; ++at) {
      if (at == point) text += '.';
      text += static_cast<char>('0' + random() % 10);
    }
    INFO(text);
    REQUIRE(bits_of(text) == right_bits_of(text));
  }
  for (const char* text : {"0", "-0", "-0.0", "+1.5", "00012", "1.", "-.5",
                           ".25", "1e3", "999999999999999", "9999999999999999",
                           "0.00000000000001", "123456789012345.6"}) {
    INFO(text);
    CHECK(bits_of(text) == right_bits_of(text));
  }
}

TEST_CASE("texts that are no numbers stay none") {
  double value = 0;
  for (const char* text : {"", "-", ".", "-.", "1.2.3", "1,2", "--1", "+-1",
                           "1 ", " 1", "0x10", "1-", "12a", "1.5.", "1..2"}) {
    INFO(text);
    CHECK_FALSE(parse_number(text, value));
  }
}

TEST_CASE("a byte that is no digit is found at every place of a number") {
  for (const std::string number :
       {"1.5", "-12.345678", "1234567.25", "0.123456789012", "12345.12345678"})
    for (std::size_t at = 0; at < number.size(); ++at)
      for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        constexpr std::string_view kOfNumbers = "0123456789.eE+-";
        if (kOfNumbers.find(c) != std::string_view::npos) continue;
        std::string text = number;
        text[at] = c;
        double value = 0;
        INFO(number << ", place " << at << ", byte " << byte);
        REQUIRE_FALSE(parse_number(text, value));
      }
}

TEST_CASE("line breaks are counted in texts of any length") {
  for (const std::size_t n : {0, 1, 63, 64, 65, 1000, 64 * 255, 64 * 256 + 3}) {
    std::string text(n, 'x');
    std::int64_t breaks = 0;
    for (std::size_t i = 0; i < n; i += 1 + i % 7, ++breaks) text[i] = '\n';
    CHECK(count_lines(text) == breaks);
    CHECK(count_lines(std::string(n, '\n')) == static_cast<std::int64_t>(n));
  }
}

}  // namespace
}  // namespace dl::vectorize::text_test
