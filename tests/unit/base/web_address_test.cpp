// Tests of libcore/base/web_address.h.

#include "libcore/base/web_address.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"

namespace dl::web_address_test {
namespace {

TEST_CASE("an address to serve at is loopback unless it says otherwise") {
  CHECK(parse_web_address("--serve", "8080").address == "127.0.0.1");
  CHECK(parse_web_address("--serve", "8080").port == 8080);
  CHECK(parse_web_address("--serve", "8080").is_loopback());
  CHECK(parse_web_address("--serve", "localhost:0").is_loopback());
  CHECK(parse_web_address("--serve", "127.0.0.2:1").is_loopback());
  CHECK(parse_web_address("--serve", "[::1]:1").is_loopback());
  CHECK_FALSE(parse_web_address("--serve", "*:1").is_loopback());
  CHECK_FALSE(parse_web_address("--serve", "[::]:1").is_loopback());
  CHECK_FALSE(parse_web_address("--serve", "192.0.2.1:1").is_loopback());
  for (const char* bad : {"", ":", "x", "65536", "-1", "80 ", "a:80", "::1:80",
                          "[::1]", "[1.2.3.4]:80", "127.1:80", ":80"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_web_address("--serve", bad), Error);
  }
}

}  // namespace
}  // namespace dl::web_address_test
