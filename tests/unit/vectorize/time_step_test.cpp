// Steps of time, by the clock and by the calendar.

#include "libcore/vectorize/series/time_step.h"

#include <catch2/catch.hpp>
#include <initializer_list>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/vectorize/table/dates.h"

namespace dl::vectorize::time_step_test {
namespace {

Time at(const char* text) {
  const auto seconds = DateFormat(DateFormat::kIso).parse(text);
  REQUIRE(seconds);
  return static_cast<Time>(*seconds);
}

std::string text_of(Time time) { return time_text(time, false); }

}  // namespace

TEST_CASE("steps of the clock") {
  const TimeStep quarter = parse_step("15min");
  CHECK(quarter.seconds == 900);
  const Time origin = at("2024-02-28");
  CHECK(quarter.of(at("2024-02-28 00:14"), origin) == 0);
  CHECK(quarter.of(at("2024-02-28 00:15"), origin) == 1);
  CHECK(quarter.of(at("2024-02-27 23:59"), origin) == -1);
  CHECK(text_of(quarter.begin(192, origin)) == "2024-03-01");
  CHECK(parse_step("1.5h").seconds == 5400);
  CHECK(parse_step("2w").seconds == 14 * 86400);
  CHECK(parse_step("0.1").is_plain);
  // A rounding below the begin of a step is none.
  const TimeStep tenth = parse_step("0.1");
  for (int i = 0; i < 1000; ++i) CHECK(tenth.of(i * 0.1, 0) == i);
}

TEST_CASE("steps of the calendar") {
  const TimeStep month = parse_step("1mo");
  const Time origin = usual_origin(at("2023-11-17 05:00"), month, false);
  CHECK(text_of(origin) == "2023-11-01");
  for (const auto& [i, text] : {std::pair{0, "2023-11-01"},
                                {1, "2023-12-01"},
                                {2, "2024-01-01"},
                                {4, "2024-03-01"},
                                {-11, "2022-12-01"},
                                {-24, "2021-11-01"}}) {
    CHECK(text_of(month.begin(i, origin)) == text);
    CHECK(month.of(month.begin(i, origin), origin) == i);
    CHECK(month.of(month.begin(i, origin) - 1, origin) == i - 1);
  }
  // The last day of shorter months.
  const Time late = at("2024-01-31 12:00");
  CHECK(text_of(month.begin(1, late)) == "2024-02-29 12:00:00");
  CHECK(text_of(month.begin(3, late)) == "2024-04-30 12:00:00");
  CHECK(parse_step("1y").months == 12);
  CHECK(text_of(parse_step("1y").begin(1, at("2024-02-29"))) == "2025-02-28");
}

TEST_CASE("the usual distance of rows") {
  const auto times = [](const std::vector<const char*>& texts) {
    std::vector<Time> all;
    for (const char* text : texts) all.push_back(at(text));
    return all;
  };
  const auto usual = [&](const std::vector<const char*>& texts) {
    return step_text(usual_step(times(texts), false), false);
  };
  CHECK(usual({"2024-01-01", "2024-01-02", "2024-01-03", "2024-01-07"}) ==
        "1d");
  CHECK(usual({"2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"}) ==
        "1mo");
  CHECK(usual({"2023-12-01", "2024-03-01", "2024-06-01"}) == "3mo");
  CHECK(usual({"2024-01-01 00:00", "2024-01-01 00:15", "2024-01-01 00:30"}) ==
        "15min");
  CHECK(usual({"2024-01-01"}) == "1d");
  CHECK(usual_step(std::vector<Time>{1700, 1701, 1702, 1705}, true).seconds ==
        1);
}

TEST_CASE("what is no step is refused") {
  for (const char* text :
       {"", "h", "0h", "-1h", "1 h", "1hour", "1.5mo", "1e9h", "nanh", "1H"})
    CHECK_THROWS_WITH(parse_step(text), Catch::Contains("every wants"));
}

TEST_CASE("times as text") {
  CHECK(time_text(1700, true) == "1700");
  CHECK(time_text(0.25, true) == "0.25");
  CHECK(time_text(at("2024-03-01"), false, true) == "2024-03-01 00:00:00");
  CHECK(step_text({0.5, 0, true}, true) == "0.5");
}

TEST_CASE("steps of months that rows have, and the times behind them") {
  const auto ahead = [](std::initializer_list<const char*> texts) {
    std::vector<Time> times;
    for (const char* text : texts) times.push_back(at(text));
    const TimeStep step = usual_step(times, false);
    std::string made = step_text(step, false) + ":";
    for (int i = 1; i <= 3; ++i)
      made += " " + text_of(time_ahead(times, step, i));
    return made;
  };
  // Ends of months stay ends, whichever comes first.
  CHECK(ahead({"2024-04-30", "2024-05-31", "2024-06-30"}) ==
        "1mo: 2024-07-31 2024-08-31 2024-09-30");
  CHECK(ahead({"2023-11-30", "2023-12-31", "2024-01-31"}) ==
        "1mo: 2024-02-29 2024-03-31 2024-04-30");
  CHECK(ahead({"2023-09-30", "2023-12-31", "2024-03-31"}) ==
        "3mo: 2024-06-30 2024-09-30 2024-12-31");
  CHECK(ahead({"2024-05-31", "2024-06-30"}) ==
        "1mo: 2024-07-31 2024-08-31 2024-09-30");
  CHECK(ahead({"2024-02-29"}) == "1d: 2024-03-01 2024-03-02 2024-03-03");
  // Other days come again after a shorter month.
  CHECK(ahead({"2023-12-30", "2024-01-30", "2024-02-29"}) ==
        "1mo: 2024-03-30 2024-04-30 2024-05-30");
  CHECK(ahead({"2024-01-28", "2024-02-28", "2024-03-28"}) ==
        "1mo: 2024-04-28 2024-05-28 2024-06-28");
  CHECK(ahead({"2024-01-01 06:00", "2024-02-01 06:00", "2024-03-01 06:00"}) ==
        "1mo: 2024-04-01 06:00:00 2024-05-01 06:00:00 2024-06-01 06:00:00");
  CHECK(ahead({"2024-01-01", "2024-01-02", "2024-01-03"}) ==
        "1d: 2024-01-04 2024-01-05 2024-01-06");
}

}  // namespace dl::vectorize::time_step_test
