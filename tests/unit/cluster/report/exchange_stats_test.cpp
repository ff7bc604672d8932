// Tests of exchange statistics in messages (cluster/protocol/exchange_stats.h).

#include "libcore/cluster/protocol/exchange_stats.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"
#include "libcore/cluster/report/exchange_report.h"

namespace dl::cluster::exchange_stats_test {

namespace {

ExchangeStats some() {
  ExchangeStats s;
  s.batches = 4;
  s.updates = 2;
  s.bytes = 300;
  s.elements = 2000;
  s.quanta = 20;
  s.threshold = 0.5;
  s.compute = 3;
  s.wait = 1;
  s.inbox = 7;
  s.cpu = 2;
  s.measured = 5;
  s.memory = 5000;
  s.residual = {1, 2, 3, 4};
  return s;
}

}  // namespace

TEST_CASE("statistics of the exchange survive the way and add up") {
  ExchangeStats sum = ExchangeStats::from_json(some().to_json());
  CHECK(sum.to_json() == some().to_json());
  CHECK(ExchangeStats::from_json(Json::object()).empty());
  sum.add(some());
  CHECK(sum.batches == 8);
  CHECK(sum.inbox == 7);  // the longest
  const Json means = sum.summary();
  CHECK(means["density"] == 0.01);
  CHECK(means["threshold"] == 0.25);
  CHECK(means["compute_ms"] == 750.0);
  CHECK(means["wait"] == 0.25);
  CHECK(means["cores"] == 0.4);
  CHECK(means["memory"] == 5000);  // the most
  CHECK(means["residual"] == Json({1.0, 2.0, 3.0, 4.0}));
}

TEST_CASE("cores and memory are told where they were measured alone") {
  ExchangeStats s;
  s.batches = 3;
  s.compute = 0.1;
  CHECK_FALSE(s.summary().contains("cores"));
  CHECK_FALSE(s.summary().contains("memory"));
}

TEST_CASE("statistics that make no sense are refused") {
  const auto refused = [](const char* key, const Json& value) {
    Json json = some().to_json();
    json[key] = value;
    CHECK_THROWS_AS(ExchangeStats::from_json(json), dl::Error);
  };
  refused("batches", -1);
  refused("wait", -0.5);
  refused("cpu", -1);
  refused("measured", -1);
  refused("memory", 1.5);
  refused("residual", Json::array({1, 2}));
  refused("surplus", 1);
}

TEST_CASE("the report of the exchange tells each worker's part once") {
  ExchangeReport report;
  report.take(3, some());
  report.applied(3, 6);
  report.applied(3, 2);
  const auto first = report.event(3, 100, false);
  REQUIRE(first);
  CHECK((*first)["batches"] == 4);
  CHECK((*first)["staleness"]["mean"] == 4.0);
  CHECK((*first)["staleness"]["max"] == 6);
  report.take(3, some());
  CHECK_FALSE(report.event(3, 105, false));  // too soon
  CHECK_FALSE(report.event(9, 105, true));   // nobody
  const auto rest = report.event(3, 105, true);
  REQUIRE(rest);
  CHECK((*rest)["batches"] == 4);
  CHECK_FALSE(report.event(3, 200, true));  // nothing new
  report.take(4, some());
  CHECK(report.total().batches == 12);
  CHECK(report.to_json()["workers"].size() == 2);
}

}  // namespace dl::cluster::exchange_stats_test
