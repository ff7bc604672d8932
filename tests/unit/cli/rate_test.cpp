#include "libcore/cli/rate.h"

#include <catch2/catch.hpp>

namespace dl::cli::rate_test {

TEST_CASE("a line of progress has what is known") {
  CHECK(Rate::line(0, "examples", {0, 0}, 0, 0) == "0 examples");
  CHECK(Rate::line(500, "examples", {500, 0}, 0, 2) == "500 examples, 250/s");
  CHECK(Rate::line(5, "examples", {5, 0}, 3'400'000, 2) ==
        "5 examples, 2.5/s, 3.4 MB");
  // 250 of 1000, with the bad ones, are done.
  CHECK(Rate::line(200, "examples", {250, 1000}, 0, 10) ==
        "200 examples, 20/s, 30 s left");
  CHECK(Rate::line(200, "examples", {250, 250}, 0, 10) == "200 examples, 20/s");
}

TEST_CASE("times and bytes are short") {
  CHECK(time_text(119) == "119 s");
  CHECK(time_text(600) == "10 min");
  CHECK(time_text(9000) == "2.5 h");
  CHECK(bytes_text(999) == "999 B");
  CHECK(bytes_text(1500) == "1.5 kB");
  CHECK(bytes_text(12'000'000'000) == "12 GB");
}

}  // namespace dl::cli::rate_test
