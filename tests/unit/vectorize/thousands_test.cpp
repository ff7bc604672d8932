#include "libcore/vectorize/source/thousands.h"

#include <catch2/catch.hpp>

namespace dl::vectorize::thousands_test {

TEST_CASE("commas between thousands are left out") {
  CHECK(without_thousands("1,234") == "1234");
  CHECK(without_thousands("-12,345.5") == "-12345.5");
  CHECK(without_thousands("+123,456,789") == "+123456789");
  CHECK(without_thousands("10,123.25") == "10123.25");
}

TEST_CASE("no other text has thousands") {
  for (const char* text :
       {"",         "7",        "-",        ",",         ",123",   "1,",
        "1,23",     "1,2345",   "1234,567", "12,34,567", "1,234.", "1,234.5.6",
        "1,234,56", "1,,234",   "1,234e3",  "1,234 ",    "a,bcd",  "1.234,567",
        "--1,234",  "1,-234",   "1234.5",   "1,234.5,6", "0,250",  "-0,250",
        "00,250",   "0,123.25", "012,345"})
    CHECK(without_thousands(text).empty());
  CHECK(without_thousands("1," + std::string(80, '0')).empty());
}

TEST_CASE("numbers that can only have thousands, or only others") {
  CHECK(are_surely_thousands("1,234.5"));
  CHECK(are_surely_thousands("1,234,567"));
  CHECK_FALSE(are_surely_thousands("1,234"));
  CHECK_FALSE(are_surely_thousands("12,34.5"));
  CHECK(has_other_commas("3,14"));
  CHECK(has_other_commas("12,34,567"));
  CHECK(has_other_commas("1,2345.6"));
  CHECK(has_other_commas("0,250"));
  CHECK_FALSE(are_surely_thousands("0,250.5"));
  CHECK_FALSE(has_other_commas("1,234"));
  CHECK_FALSE(has_other_commas("3.14"));
  CHECK_FALSE(has_other_commas("1,a"));
}

}  // namespace dl::vectorize::thousands_test
