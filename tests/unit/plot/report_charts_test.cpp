// Tests of libcore/plot/report_charts.h.

#include "libcore/plot/report_charts.h"

#include <catch2/catch.hpp>

namespace dl::plot::report_charts_test {
namespace {

Json evaluation_with(const char* horizon) {
  return {{"metrics", {{"horizon", Json::parse(horizon)}}}};
}

TEST_CASE("errors of a forecast are drawn by how far it is ahead") {
  const auto charts = horizon_charts(
      evaluation_with(R"([{"step":1,"mae":1,"rmse":2,"naive_mae":3},
                          {"step":2,"mae":4,"rmse":5,"naive_mae":null},
                          {"step":3,"mae":6,"rmse":7,"naive_mae":8}])"),
      "a-");
  REQUIRE(charts.size() == 2);
  CHECK(charts[0].id == "a-mae");
  REQUIRE(charts[0].lines.size() == 2);
  CHECK(charts[0].lines[0].name == "model");
  CHECK(charts[0].lines[0].curve.x == std::vector<double>{1, 2, 3});
  CHECK(charts[0].lines[0].curve.y == std::vector<double>{1, 4, 6});
  CHECK(charts[0].lines[1].name == "naive");
  CHECK(charts[0].lines[1].curve.x == std::vector<double>{1, 3});
  CHECK(to_svg(charts[0]).find(">1.5<") == std::string::npos);
  REQUIRE(charts[1].lines.size() == 1);
  CHECK(charts[1].lines[0].curve.y == std::vector<double>{2, 5, 7});
}

TEST_CASE("a forecast of one row has no chart by horizon") {
  CHECK(horizon_charts({{"metrics", Json::object()}}, "").empty());
  CHECK(horizon_charts(evaluation_with(R"([{"step":1,"mae":1}])"), "").empty());
  CHECK(horizon_charts(evaluation_with(R"([7,{"step":"x"}])"), "").empty());
}

}  // namespace
}  // namespace dl::plot::report_charts_test
