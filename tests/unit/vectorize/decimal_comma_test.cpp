#include "libcore/vectorize/source/decimal_comma.h"

#include <catch2/catch.hpp>

namespace dl::vectorize::decimal_comma_test {

TEST_CASE("numbers with a decimal comma get a point") {
  CHECK(with_decimal_point("3,14") == "3.14");
  CHECK(with_decimal_point("-1.234,5") == "-1234.5");
  CHECK(with_decimal_point("+1.234.567") == "+1234567");
  CHECK(with_decimal_point("12.345") == "12345");
  CHECK(with_decimal_point("1234,50") == "1234.50");
}

TEST_CASE("no other text becomes a number by a decimal comma") {
  for (const char* text :
       {"", "7", "-", ",5", "3,", "1,2,3", "1.2.2024", "1234.567", "12.34,5",
        "1.234x", "a,b", "1,-5", "3.14", "1e3,5", "1..234"})
    CHECK(with_decimal_point(text).empty());
}

}  // namespace dl::vectorize::decimal_comma_test
