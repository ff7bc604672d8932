#include "libcore/vectorize/table/dates.h"

#include <catch2/catch.hpp>

#include "tests/unit/error_of.h"

namespace dl::vectorize::dates_test {
namespace {

std::string read(const char* text, const char* format = DateFormat::kIso) {
  const auto time = DateFormat(format).parse(text);
  return time ? date_text(*time) : "none";
}

}  // namespace

TEST_CASE("dates are read by their formats") {
  CHECK(read("1970-01-01") == "1970-01-01");
  CHECK(read("2024-02-29") == "2024-02-29");
  CHECK(read("2023-02-29") == "none");
  CHECK(read("0001-01-01") == "0001-01-01");
  CHECK(read("2024-13-01") == "none");
  CHECK(read("2024-1-5") == "2024-01-05");
  CHECK(read("29.2.2024", "%d.%m.%Y") == "2024-02-29");
  CHECK(read("02/29/2024", "%m/%d/%Y") == "2024-02-29");
  CHECK(read("29/02/2024", "%m/%d/%Y") == "none");
  CHECK(read("5 Mar 2024", "%d %b %Y") == "2024-03-05");
  CHECK(read("march 5, 2024", "%b %d, %Y") == "2024-03-05");
  CHECK(read("05-may-69", "%d-%b-%y") == "1969-05-05");
  CHECK(read("05-may-68", "%d-%b-%y") == "2068-05-05");
  CHECK(read("2024/366", "%Y/%j") == "2024-12-31");
  CHECK(read("2023/366", "%Y/%j") == "none");
  CHECK(read("20240229", "%Y%m%d") == "2024-02-29");
  CHECK(read("2024-02-29x") == "none");
  CHECK(read("") == "none");
}

TEST_CASE("a time of day may follow a date, with an offset from UTC") {
  CHECK(read("2024-02-29 17:05") == "2024-02-29 17:05:00");
  CHECK(read("2024-02-29T17:05:09.123456Z") == "2024-02-29 17:05:09");
  CHECK(read("2024-02-29T00:30:00+02:00") == "2024-02-28 22:30:00");
  CHECK(read("2024-12-31 23:30:00 -0130") == "2025-01-01 01:00:00");
  CHECK(read("29.2.2024 7:05", "%d.%m.%Y") == "2024-02-29 07:05:00");
  CHECK(read("2024-02-29 24:00") == "none");
  CHECK(read("2024-02-29 17") == "none");
  CHECK(read("2024-02-29 17:05:09+25:00") == "none");
  CHECK(read("2024-02-29 17h05", "%Y-%m-%d %Hh%M") == "2024-02-29 17:05:00");
  CHECK(read("2024-02-29 17h05 1", "%Y-%m-%d %Hh%M") == "none");
}

TEST_CASE("parts of dates before and after 1970") {
  const auto parts = [](const char* text) {
    return civil_time(*DateFormat(DateFormat::kIso).parse(text));
  };
  const CivilTime old = parts("1912-04-14 23:40:01");  // a Sunday
  CHECK(old.year == 1912);
  CHECK(old.month == 4);
  CHECK(old.day == 14);
  CHECK(old.weekday == 6);
  CHECK(old.yearday == 105);
  CHECK(old.hour == 23);
  CHECK(old.minute == 40);
  CHECK(old.second == 1);
  CHECK(parts("2024-12-31").yearday == 366);
  CHECK(parts("2024-12-30").weekday == 0);
}

TEST_CASE("a format that gives no date is refused") {
  const auto refused = [](const char* format) {
    return error_of([&] { DateFormat{format}; });
  };
  CHECK(refused("%Y-%m") ==
        "78: '%Y-%m' has no whole date: want year, month and day, as %Y-%m-%d");
  CHECK(refused("%Y-%m-%d %p") ==
        "78: '%p' is no part of a date format; want %Y, %y, %m, %d, %b, %j, "
        "%H, %M, %S");
  CHECK(refused("%Y-%m-%") ==
        "78: '%' is no part of a date format; want %Y, %y, %m, %d, %b, %j, "
        "%H, %M, %S");
}

}  // namespace dl::vectorize::dates_test
