// Tests of libcore/cluster/report/loss_curve.h.

#include "libcore/cluster/report/loss_curve.h"

#include <catch2/catch.hpp>
#include <cstdlib>

namespace dl::cluster::loss_curve_test {
namespace {

Json report_of(const std::vector<double>& losses) {
  Json history = Json::array();
  for (const double loss : losses)
    history.push_back({{"loss", loss}, {"metrics", {{"accuracy", 0.5}}}});
  return {{"history", std::move(history)}};
}

TEST_CASE("losses become a line of blocks") {
  CHECK(loss_curve(report_of({7, 6, 5, 4, 3, 2, 1, 0})) ==
        "training     █▇▆▅▄▃▂▁  7 to 0\n");
  CHECK(loss_curve(report_of({2, 2})) == "training     ▁▁  2 to 2\n");
  CHECK(loss_curve(report_of({2})).empty());
  CHECK(loss_curve(Json::object()).empty());
  CHECK(loss_curve({{"history", {{{"loss", nullptr}, {"metrics", nullptr}}}}})
            .empty());
}

TEST_CASE("a long run takes no more than a line") {
  const std::string line = loss_curve(report_of(std::vector<double>(1234, 1)));
  CHECK(line.size() == std::string("training     ").size() + 50 * 3 +
                           std::string("  1 to 1\n").size());
}

TEST_CASE("held-out losses have a line of their own") {
  Json report = report_of({3, 1});
  report["history"][0]["metrics"]["log_loss"] = 2;
  report["history"][1]["metrics"]["log_loss"] = 4;
  CHECK(loss_curve(report) ==
        "training     █▁  3 to 1\nheld-out     ▁█  2 to 4\n");
}

}  // namespace
}  // namespace dl::cluster::loss_curve_test
