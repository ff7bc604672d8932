#include "libcore/cluster/report/estimate.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace dl::cluster;

namespace {

// Four hosts on lines of 100 Mbit/s, a network of a million parameters.
Estimate four_hosts() {
  HostFigures host;
  host.compute = 0.1;
  host.encode = 1e-3;
  host.decode = 1e-4;
  host.update_bytes = 2000;
  host.delta_bytes = 20000;
  host.bandwidth = 12.5e6;
  host.round_trip = 1e-3;
  Estimate estimate;
  estimate.hosts.assign(4, host);
  estimate.parameters = 1'000'000;
  estimate.settings.batch = 32;
  return estimate;
}

double seconds(const Estimate& estimate, Mode mode, std::int64_t n) {
  return static_cast<double>(n * estimate.settings.batch) /
         estimate.rate(mode, n);
}

}  // namespace

TEST_CASE("one host exchanges nothing") {
  const Estimate estimate = four_hosts();
  for (const Mode mode : {Mode::kSharing, Mode::kAveraging, Mode::kSync})
    CHECK(estimate.rate(mode, 1) == Approx(320));
}

TEST_CASE("a step takes what its formula says") {
  Estimate estimate = four_hosts();
  CHECK(seconds(estimate, Mode::kSharing, 4) ==
        Approx(0.1 + 1e-3 + 4e-4 + 1e-3));
  estimate.settings.sharing.in_flight = 2;
  CHECK(seconds(estimate, Mode::kSharing, 4) == Approx(0.1 + 1e-3 + 4e-4));
  // 64 updates to 64 workers fill the master's line, in a tree they do not.
  CHECK(seconds(estimate, Mode::kSharing, 64) == Approx(0.1 + 1e-3 + 64e-4));
  estimate.fan_out = 2;
  CHECK(estimate.enough(64) == Approx(64.0 * 2 * 2000 / (0.101 + 64e-4)));
  estimate.topology = Topology::kStar;
  CHECK(seconds(estimate, Mode::kSharing, 64) ==
        Approx(64.0 * 64 * 2000 / 12.5e6));
  CHECK(seconds(estimate, Mode::kSync, 4) ==
        Approx(0.1 + 1.5 * 4e6 / 12.5e6 + 2e-3));
  CHECK(seconds(estimate, Mode::kSync, 65) ==
        Approx(0.1 + 2.0 * 65 * 4e6 / 12.5e6 + 2e-3));
  const double exchange = 2.0 * 4 * 20000 / 12.5e6 + 1e-3;
  CHECK(seconds(estimate, Mode::kAveraging, 4) == Approx(0.1 + exchange / 5));
  const double star = 2.0 * 64 * 20000 / 12.5e6 + 1e-3;
  CHECK(seconds(estimate, Mode::kAveraging, 64) == Approx(0.1 + star / 5));
  estimate.topology = Topology::kTree;
  estimate.fan_out = 4;
  // 8 differences, then 8 sums, each as large as 8 of them; down three levels.
  const double tree =
      (8.0 * 20000 + 8 * 8 * 20000 + 3 * 4 * 20000) / 12.5e6 + 1e-3;
  CHECK(seconds(estimate, Mode::kAveraging, 64) == Approx(0.1 + tree / 5));
  estimate.settings.averaging.overlap = true;
  CHECK(seconds(estimate, Mode::kAveraging, 4) == Approx(0.1));
}

TEST_CASE("at the break-even bandwidth sharing and sync are equal") {
  Estimate estimate = four_hosts();
  for (HostFigures& host : estimate.hosts) host.round_trip = 1e-5;
  const double line = estimate.break_even(4);
  REQUIRE(std::isfinite(line));
  for (HostFigures& host : estimate.hosts) host.bandwidth = line;
  CHECK(estimate.rate(Mode::kSharing, 4) ==
        Approx(estimate.rate(Mode::kSync, 4)));
  for (HostFigures& host : estimate.hosts) host.bandwidth = line / 2;
  CHECK(estimate.rate(Mode::kSharing, 4) > estimate.rate(Mode::kSync, 4));
  for (HostFigures& host : estimate.hosts) host.bandwidth = 2 * line;
  CHECK(estimate.rate(Mode::kSharing, 4) < estimate.rate(Mode::kSync, 4));
  for (HostFigures& host : estimate.hosts) host.update_bytes = 8e6;
  CHECK(estimate.break_even(4) == 0);
}

TEST_CASE("the advice follows from the figures") {
  Estimate estimate = four_hosts();
  CHECK(estimate.advice() ==
        "4 hosts are 3.9 times as fast as one with --mode sharing, nearly "
        "linear");
  for (HostFigures& host : estimate.hosts) {
    host.bandwidth = 1e12;
    host.decode = 2e-2;
  }
  estimate.settings.averaging.frequency = 1;
  for (HostFigures& host : estimate.hosts) host.delta_bytes = 1e11;
  CHECK(estimate.advice() ==
        "4 hosts are 3.9 times as fast as one with --mode sync, nearly linear");
  for (HostFigures& host : estimate.hosts) {
    host.compute = 1e-4;
    host.decode = 1e-4;
    host.bandwidth = 12.5e6;
  }
  CHECK(estimate.advice().find("one host is as fast as 4 hosts") == 0);
  estimate.hosts.resize(1);
  CHECK(estimate.advice().find("one host was measured") == 0);
}

TEST_CASE("the slowest line counts") {
  Estimate estimate = four_hosts();
  estimate.hosts[2].bandwidth = 1e5;
  CHECK(seconds(estimate, Mode::kSharing, 4) == Approx(16 * 2000 / 1e5));
}
