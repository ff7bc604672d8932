#include "libcore/vectorize/table/dates.h"

#include <catch2/catch.hpp>
#include <vector>

#include "libcore/vectorize/table/date_form.h"
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

TEST_CASE("months, quarters, clocks of 12 hours and zones") {
  CHECK(read("2024-03", "%Y-%m") == "2024-03-01");
  CHECK(read("2024-13", "%Y-%m") == "none");
  CHECK(read("2024-03 10:00", "%Y-%m") == "none");
  CHECK(read("2024Q3", "%YQ%q") == "2024-07-01");
  CHECK(read("2024-Q4", "%Y-Q%q") == "2024-10-01");
  CHECK(read("2024Q5", "%YQ%q") == "none");
  const char* clock = "%m/%d/%Y %I:%M %p";
  CHECK(read("02/29/2024 05:05 PM", clock) == "2024-02-29 17:05:00");
  CHECK(read("02/29/2024 12:05 am", clock) == "2024-02-29 00:05:00");
  CHECK(read("02/29/2024 12:00 PM", clock) == "2024-02-29 12:00:00");
  CHECK(read("02/29/2024 13:00 PM", clock) == "none");
  CHECK(read("02/29/2024 0:30 AM", clock) == "none");
  CHECK(read("02/29/2024 5:05:09 p.m.", "%m/%d/%Y") == "2024-02-29 17:05:09");
  CHECK(read("02/29/2024 17:05 PM", "%m/%d/%Y") == "none");
  CHECK(read("2024-02-29 10:00 +0200", "%Y-%m-%d %H:%M %z") ==
        "2024-02-29 08:00:00");
  CHECK(read("2024-02-29 10:00Z", "%Y-%m-%d %H:%M%z") == "2024-02-29 10:00:00");
}

TEST_CASE("times are written in the form of others") {
  const auto written = [](const char* format, std::vector<const char*> seen,
                          const char* time) {
    DateForm form{DateFormat(format)};
    for (const char* text : seen) {
      DatePieces pieces;
      REQUIRE(DateFormat(format).parse(text, &pieces));
      form.see(text, pieces);
    }
    return form.text(*DateFormat(DateFormat::kIso).parse(time), seen.back());
  };
  const char* iso = DateFormat::kIso;
  CHECK(written(iso, {"2024-02-29"}, "2024-03-01") == "2024-03-01");
  CHECK(written(iso, {"2024-02-29"}, "2024-03-01 12:00") ==
        "2024-03-01 12:00:00");
  CHECK(written(iso, {"2024-02-29 10:00"}, "2024-03-01") == "2024-03-01 00:00");
  CHECK(written(iso, {"2024-02-29 10:00", "2024-02-29"}, "2024-03-01 09:30") ==
        "2024-03-01 09:30");
  CHECK(written(iso, {"2024-02-29T17:00:00+02:00"}, "2024-02-29 22:30") ==
        "2024-03-01T00:30:00+02:00");
  CHECK(written(iso, {"2024-02-29T17:00:00.250Z"}, "2024-02-29 22:30") ==
        "2024-02-29T22:30:00.000Z");
  CHECK(written(iso, {"2024-02-29 17:00 -0130"}, "2024-02-29 01:00") ==
        "2024-02-28 23:30 -0130");
  CHECK(written("%m/%d/%Y", {"9/5/2024", "12/31/2024"}, "2025-01-01") ==
        "1/1/2025");
  CHECK(written("%m/%d/%Y", {"12/31/2024"}, "2025-01-01") == "01/01/2025");
  CHECK(written("%m/%d/%Y %I:%M %p", {"12/31/2024 11:00 PM"},
                "2025-01-01 00:00") == "01/01/2025 12:00 AM");
  CHECK(written("%m/%d/%Y", {"12/31/2024 9:00 pm"}, "2025-01-01 13:05") ==
        "01/01/2025 1:05 pm");
  CHECK(written("%b %d, %Y", {"April 05, 2024", "MAY 06, 2024"},
                "2024-06-07") == "JUNE 07, 2024");
  CHECK(written("%d-%b-%y", {"05-may-69"}, "1969-06-05") == "05-jun-69");
  CHECK(written("%Y-%m", {"2024-12"}, "2025-01-01") == "2025-01");
  CHECK(written("%YQ%q", {"2024Q4"}, "2025-01-01") == "2025Q1");
  CHECK(written("%Y/%j", {"2024/366"}, "2025-01-02") == "2025/002");
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
  CHECK(refused("%Y") ==
        "78: '%Y' has no date: want a year and a month, with or without a day, "
        "a quarter or a day of the year, as %Y-%m-%d");
  CHECK(refused("%Y-%m-%d %I").starts_with("78: '%Y-%m-%d %I': %I, of 12"));
  CHECK(refused("%Y-%m-%d %U") ==
        "78: '%U' is no part of a date format; want %Y, %y, %m, %d, %b, %j, "
        "%q, %H, %I, %M, %S, %p, %z");
  CHECK(refused("%Y-%m-%").starts_with("78: '%' is no part"));
}

}  // namespace dl::vectorize::dates_test
