// Tests of libcore/plot/live/web_target.h.

#include "libcore/plot/live/web_target.h"

#include <catch2/catch.hpp>

namespace dl::plot::web_target_test {
namespace {

TEST_CASE("targets are a path and a decoded query") {
  const WebTarget target =
      parse_web_target("run?name=a%20b&name=c+d&x=1&&name&y=%zz%4");
  CHECK(target.path == "run");
  CHECK(target.values("name") == std::vector<std::string>{"a b", "c d", ""});
  CHECK(target.values("y") == std::vector<std::string>{"%zz%4"});
  CHECK(parse_web_target("").path.empty());
  CHECK(parse_web_target("?").query.empty());
}

TEST_CASE("any name survives a query") {
  std::string name;
  for (int byte = 0; byte < 256; ++byte) name += static_cast<char>(byte);
  const std::string target = "run?name=" + in_query(name);
  CHECK(target.find_first_of("\"<> ") == std::string::npos);
  CHECK(parse_web_target(target).values("name") ==
        std::vector<std::string>{name});
}

}  // namespace
}  // namespace dl::plot::web_target_test
