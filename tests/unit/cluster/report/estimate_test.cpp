// Tests of libcore/cluster/report/estimate.h.

#include "libcore/cluster/report/estimate.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace dl::cluster::estimate_test {

namespace {

// Four hosts on lines of 100 Mbit/s, a network of a million parameters; of two
// hosts the slower one takes 110 ms, of four 120, and so on, and as much more
// for five mini-batches.
Estimate four_hosts() {
  HostFigures host;
  host.compute = 0.1;
  host.encode = 1e-3;
  host.decode = 1e-4;
  host.update_bytes = 2000;
  host.delta_bytes = 20000;
  host.round = 5e-3;
  host.sync_alone = 0.5;
  host.sync_pair = 0.6;
  host.bandwidth = 12.5e6;
  host.gradient = 0.4;
  host.round_trip = 1e-3;
  host.message = 1e-5;
  host.exchange = 2e-3;
  for (std::size_t i = 0; i < host.slowest.size(); ++i) {
    host.slowest[i] = 0.1 + 0.01 * static_cast<double>(i);
    host.slowest_round[i] = 0.5 + 0.01 * static_cast<double>(i);
  }
  Estimate estimate;
  estimate.hosts.assign(4, host);
  estimate.parameters = 1'000'000;
  estimate.examples = 32;
  return estimate;
}

double seconds(const Estimate& estimate, Mode mode, std::int64_t n) {
  return static_cast<double>(n) * estimate.examples / estimate.rate(mode, n);
}

}  // namespace

TEST_CASE("one host exchanges with the master") {
  const Estimate estimate = four_hosts();
  CHECK(seconds(estimate, Mode::kSharing, 1) ==
        Approx(0.1 + 1e-3 + 1e-4 + 2e-3));
  CHECK(seconds(estimate, Mode::kAveraging, 1) ==
        Approx(0.1 + (5e-3 + 2 * 20000 / 12.5e6 + 1e-3) / 5));
  CHECK(seconds(estimate, Mode::kSync, 1) == Approx(0.5));
  CHECK(estimate.rate_of_one() == Approx(estimate.rate(Mode::kAveraging, 1)));
}

TEST_CASE("a step of sharing takes what its formula says") {
  Estimate estimate = four_hosts();
  CHECK(seconds(estimate, Mode::kSharing, 4) ==
        Approx(0.1 + 1e-3 + 4e-4 + 2e-3 + 3e-5));
  // 64 updates to 64 workers fill the master's line, in a tree they do not.
  const double compute = 0.1 + 1e-3 + 64e-4 + 2e-3 + 63e-5;
  CHECK(seconds(estimate, Mode::kSharing, 64) == Approx(compute));
  estimate.fan_out = 2;
  CHECK(estimate.enough(64) == Approx(64.0 * 2 * 2000 / compute));
  estimate.topology = Topology::kStar;
  CHECK(seconds(estimate, Mode::kSharing, 64) ==
        Approx(64.0 * 64 * 2000 / 12.5e6));
}

TEST_CASE("a step of sync takes what its formula says") {
  Estimate estimate = four_hosts();
  estimate.topology = Topology::kStar;
  CHECK(seconds(estimate, Mode::kSync, 2) == Approx(0.6 + 0.01));
  const double more = (13 / 8.0 - 5 / 4.0) * 0.4;
  CHECK(seconds(estimate, Mode::kSync, 4) == Approx(0.6 + 0.02 + more));
  // The value for 3 hosts lies between those of 2 and 4 by the logarithm.
  CHECK(seconds(estimate, Mode::kSync, 3) ==
        Approx(0.6 + 0.01 * std::log2(3) + (9 / 6.0 - 5 / 4.0) * 0.4));
  CHECK(seconds(estimate, Mode::kSync, 65) ==
        Approx(0.5 + 0.06 + 0.01 * std::log2(65 / 64.0) +
               2.0 * 64 * 4e6 / 12.5e6));
  CHECK(seconds(estimate, Mode::kSync, 500) ==
        Approx(0.5 + 0.07 + 2.0 * 499 * 4e6 / 12.5e6));
}

TEST_CASE("a step of averaging takes what its formula says") {
  Estimate estimate = four_hosts();
  estimate.topology = Topology::kStar;
  const double exchange = 2.0 * 4 * 20000 / 12.5e6 + 1e-3;
  CHECK(seconds(estimate, Mode::kAveraging, 4) ==
        Approx((0.525 + exchange) / 5));
  const double star = 2.0 * 64 * 20000 / 12.5e6 + 1e-3;
  CHECK(seconds(estimate, Mode::kAveraging, 64) == Approx((0.565 + star) / 5));
  estimate.topology = Topology::kTree;
  estimate.fan_out = 4;
  // 8 differences, then 8 sums, each as large as 8 of them; down three levels.
  const double tree =
      (8.0 * 20000 + 8 * 8 * 20000 + 3 * 4 * 20000) / 12.5e6 + 1e-3;
  CHECK(seconds(estimate, Mode::kAveraging, 64) == Approx((0.565 + tree) / 5));
  estimate.settings.averaging.overlap = true;
  CHECK(seconds(estimate, Mode::kAveraging, 4) == Approx(0.525 / 5));
}

TEST_CASE("at the break-even bandwidth sharing and sync are equal") {
  Estimate estimate = four_hosts();
  for (HostFigures& host : estimate.hosts) {
    host.round_trip = host.message = 0;
    host.slowest.fill(host.compute);
  }
  double beside = 0;  // in a step of sync
  const auto set_line = [&](double bytes) {
    for (HostFigures& host : estimate.hosts) {
      host.bandwidth = bytes;
      host.gradient = 4e6 / bytes;
      host.sync_pair = host.compute + beside + 5 / 4.0 * host.gradient;
    }
  };
  set_line(12.5e6);
  const BreakEven even = estimate.break_even(4);
  REQUIRE(even.side == BreakEven::kBelow);
  const double line = even.bytes;
  set_line(line);
  CHECK(estimate.rate(Mode::kSharing, 4) ==
        Approx(estimate.rate(Mode::kSync, 4)));
  set_line(line / 2);
  CHECK(estimate.rate(Mode::kSharing, 4) > estimate.rate(Mode::kSync, 4));
  set_line(2 * line);
  CHECK(estimate.rate(Mode::kSharing, 4) < estimate.rate(Mode::kSync, 4));
  beside = 0.1;
  set_line(line);
  CHECK(estimate.break_even(4).side == BreakEven::kAlways);
  // More bytes than sync sends, and less work.
  for (HostFigures& host : estimate.hosts) host.update_bytes = 8e6;
  const BreakEven fast = estimate.break_even(4);
  REQUIRE(fast.side == BreakEven::kAbove);
  set_line(fast.bytes);
  CHECK(estimate.rate(Mode::kSharing, 4) ==
        Approx(estimate.rate(Mode::kSync, 4)));
  set_line(2 * fast.bytes);
  CHECK(estimate.rate(Mode::kSharing, 4) > estimate.rate(Mode::kSync, 4));
  beside = 0;
  set_line(line);
  CHECK(estimate.break_even(4).side == BreakEven::kNever);
}

TEST_CASE("the advice follows from the figures") {
  Estimate estimate = four_hosts();
  CHECK(estimate.advice() ==
        "4 hosts are 3.9 times as fast as one with --mode sharing, nearly "
        "linear");
  for (HostFigures& host : estimate.hosts) {
    host.bandwidth = 1e12;
    host.gradient = 1e-4;
    host.sync_alone = host.sync_pair = host.compute + 1e-4;
    host.decode = 2e-2;
    host.slowest.fill(host.compute);
  }
  estimate.settings.averaging.frequency = 1;
  for (HostFigures& host : estimate.hosts) host.delta_bytes = 1e11;
  CHECK(estimate.advice() ==
        "4 hosts are 4.0 times as fast as one with --mode sync, nearly linear");
  for (HostFigures& host : estimate.hosts) {
    host.compute = 1e-4;
    host.decode = 5e-2;
    host.bandwidth = 12.5e6;
    host.gradient = 0.4;
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

TEST_CASE("a network that is not for sync has no figures of it") {
  Estimate estimate = four_hosts();
  for (HostFigures& host : estimate.hosts) {
    host.sync_pair = 0.05;
    host.gradient = 1e-4;
  }
  CHECK(estimate.advice().find("--mode sync") != std::string::npos);
  estimate.no_sync = "--mode sync: not for this one";
  CHECK(estimate.advice().find("--mode sync") == std::string::npos);
  CHECK(estimate.to_text().find(estimate.no_sync) != std::string::npos);
  for (const auto& row : estimate.to_json().at("expected")) {
    CHECK(row.at("sync").is_null());
    CHECK_FALSE(row.contains("sharing_pays"));
  }
}

TEST_CASE("hosts whose mini-batches differ much are named") {
  Estimate estimate = four_hosts();
  CHECK(estimate.unsteady_text().empty());
  estimate.hosts[1].name = "b";
  estimate.hosts[1].compute_from = 0.01;
  estimate.hosts[1].compute_to = 0.04;
  CHECK(estimate.unsteady_text().find("b: mini-batches take 10 to 40 ms") == 0);
}

TEST_CASE("auto takes sync where that is nearly as fast as sharing") {
  Estimate estimate = four_hosts();
  const auto of = [&] { return estimate.choose(4); };
  CHECK(of().mode == Mode::kSharing);
  CHECK(of().why ==
        "sharing, 1,240 examples/s expected of 4 workers; sync 166");
  for (HostFigures& host : estimate.hosts) {
    host.sync_pair = 0.105;
    host.gradient = 1e-4;
  }
  CHECK(estimate.rate(Mode::kSync, 4) < estimate.rate(Mode::kSharing, 4));
  CHECK(of().mode == Mode::kSync);
  CHECK(of().why ==
        "sync, 1,020 examples/s expected of 4 workers; sharing 1,240, which is "
        "not exact");
  estimate.failure = "w3 was lost";
  CHECK(of().mode == Mode::kSharing);
  CHECK(of().why == "sharing; nothing could be measured: w3 was lost");
  estimate.no_sync = "--mode sync: it cannot be";
  CHECK(of().why == "sharing, as --mode sync: it cannot be");
}

}  // namespace dl::cluster::estimate_test
