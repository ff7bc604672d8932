// Tests of libcore/plot/pictures.h.

#include "libcore/plot/pictures.h"

#include <catch2/catch.hpp>

#include "libcore/plot/page.h"

namespace dl::plot::pictures_test {
namespace {

TEST_CASE("a plain style has no variables, and each color of a line") {
  const std::string plain = plain_style(chart_style());
  CHECK(plain.find("var(") == std::string::npos);
  CHECK(plain.find("@media") == std::string::npos);
  CHECK(plain.find("--") == std::string::npos);
  for (const char* rule :
       {"svg.chart .line.c0 path { stroke: #2563b0;",
        "svg.chart .line.c7 circle { fill: #5f6b7a;",
        "svg.chart .grid { stroke: #dfe3e8;", "svg.chart .bad { fill: "}) {
    CAPTURE(rule);
    CHECK(plain.find(rule) != std::string::npos);
  }
}

}  // namespace
}  // namespace dl::plot::pictures_test
