// Tests of libcore/io/hex.h.

#include "libcore/io/hex.h"

#include <array>
#include <catch2/catch.hpp>

namespace dl::io::hex_test {

TEST_CASE("numbers and bytes come back from their digits") {
  for (const std::uint64_t value : {0ull, 1ull, 0x0123456789abcdefull, ~0ull})
    CHECK(parse_hex(hex(value)) == value);
  CHECK(hex(std::uint64_t{0xbeef}) == "000000000000beef");
  const std::array bytes{std::byte{0}, std::byte{0x7f}, std::byte{0xff}};
  CHECK(hex(bytes) == "007fff");
  CHECK(parse_hex_bytes("007fff") ==
        std::vector<std::byte>(bytes.begin(), bytes.end()));
}

TEST_CASE("what is no hexadecimal number is none") {
  for (const char* bad :
       {"", "123", "0123456789abcdef0", "0123456789abcdeg", "-123456789abcdef",
        " 123456789abcdef", "0x23456789abcdef"})
    CHECK_FALSE(parse_hex(bad));
  for (const char* bad : {"1", "1g", "-1", " 1", "0x", "12 3"})
    CHECK_FALSE(parse_hex_bytes(bad));
}

TEST_CASE("random digits are others each time") {
  CHECK(random_digits().size() == 32);
  CHECK(random_digits().find_first_not_of("0123456789abcdef") ==
        std::string::npos);
  CHECK(random_digits() != random_digits());
}

}  // namespace dl::io::hex_test
