// Tests of libcore/plot/chart.h, axis.h, thin.h and markup.h.

#include "libcore/plot/chart.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "libcore/plot/axis.h"
#include "libcore/plot/markup.h"
#include "libcore/plot/thin.h"

namespace dl::plot::chart_test {
namespace {

using Catch::Detail::Approx;

TEST_CASE("a long curve keeps its lowest and highest values") {
  std::vector<double> x, y;
  for (int i = 0; i < 100000; ++i) {
    x.push_back(i);
    y.push_back(i == 70000 ? 9 : i % 2);
  }
  y[5] = std::numeric_limits<double>::quiet_NaN();
  const Curve thin = thinned(x, y);
  REQUIRE(thin.x.size() == 300);
  REQUIRE(thin.low.size() == 300);
  CHECK(*std::max_element(thin.high.begin(), thin.high.end()) == 9);
  CHECK(*std::min_element(thin.low.begin(), thin.low.end()) == 0);
  CHECK(thin.y[0] == Approx(0.5).margin(0.01));
  // Numbers that go back again and again make no more points.
  std::vector<double> back, values(3000, 1);
  for (int i = 0; i < 3000; ++i) back.push_back(i % 7);
  CHECK(thinned(back, values).x.size() == 7);
  CHECK(thinned({1, 2}, {3, 4}).y == std::vector<double>{3, 4});
  CHECK(thinned(std::vector<double>(1000, 1), std::vector<double>(1000, 2)).y ==
        std::vector<double>{2});
}

TEST_CASE("smoothing has no bias at the start") {
  const auto smooth = smoothed({4, 4, 4, 4}, 10);
  for (const double value : smooth) CHECK(value == Approx(4));
}

TEST_CASE("ticks are round and within the axis") {
  const Axis axis = axis_of(0, 1068, 6, false);
  REQUIRE(axis.ticks.size() == 6);
  CHECK(axis.ticks[1].label == "200");
  CHECK(axis_of(0.1, 0.93, 4, true).ticks.back().label == "1.0");
  for (const auto& [low, high] : {std::pair{1.0, 1.0},
                                  {0.0, 0.0},
                                  {-1e308, 1e308},
                                  {1e-300, 2e-300},
                                  {std::nan(""), 1.0},
                                  {1e15, 1e15 + 1},
                                  {-5.0, -4.0}}) {
    const Axis odd = axis_of(low, high, 5, true);
    CHECK(odd.low < odd.high);
    CHECK(odd.ticks.size() < 16);
    CHECK(std::isfinite(odd.place(odd.low)));
  }
}

TEST_CASE("names are escaped wherever they stand") {
  Chart chart{.id = "x",
              .title = "<script>alert(1)</script>",
              .x_label = "\"'<&",
              .y_label = "</style>"};
  chart.lines.push_back({"</script><img src=x>", {{1, 2}, {3, 4}, {}, {}}});
  chart.lines.push_back({"a\x01\xff", {{1, 2}, {3, 5}, {}, {}}});
  const std::string page = to_figure(chart);
  CHECK(page.find("<script>alert") == std::string::npos);
  CHECK(page.find("</script><img") == std::string::npos);
  CHECK(page.find("<img") == std::string::npos);
  CHECK(page.find("</style>") == std::string::npos);
  CHECK(page.find('\x01') == std::string::npos);
  CHECK(page.find('\xff') == std::string::npos);
  CHECK(escaped("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;");
  CHECK(escaped("ab\xc3\xa4", 3) == "ab…");
}

TEST_CASE("a chart without points says so") {
  CHECK(Chart{.id = "x", .title = "t", .x_label = "", .y_label = ""}.empty());
  CHECK(to_figure({.id = "x", .title = "t", .x_label = "", .y_label = ""})
            .find("No numbers") != std::string::npos);
}

}  // namespace
}  // namespace dl::plot::chart_test
