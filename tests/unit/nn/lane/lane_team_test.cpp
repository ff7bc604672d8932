// The threads of the lanes: sums in order, and what happens when one fails.

#include "libcore/nn/lane/lane_team.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "libcore/base/error.h"
#include "libcore/device/open.h"

namespace dl::nn::lane_team_test {
namespace {

using Catch::Matchers::Message;

// A sum for lanes on devices that never fail.
struct NoSum : device::LaneSum {
  void all_reduce(int, tensor::View) override {}
  void reduce(int, tensor::View) override {}
  void broadcast(int, tensor::View) override {}
  void finish(int) override {}
  void check(int) override {}
  void give_up() noexcept override {}
};

TEST_CASE("a team sums vectors in the order of the lanes") {
  const int lanes = GENERATE(1, 2, 5);
  LaneTeam team(lanes);
  auto devices = device::open_lanes("reference", lanes);
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(lanes));
  const std::function<void(int)> task = [&](int lane) {
    const auto l = static_cast<std::size_t>(lane);
    device::Device& device = *devices[l];
    const auto mine = device.allocate({2}), scratch = device.allocate({2});
    for (int round = 0; round < 50; ++round) {
      // Big and small: another order would round differently.
      mine->view().as<double>()[0] = lane % 2 == 0 ? 1e16 : -1e16 + lane;
      mine->view().as<double>()[1] = lane + round;
      team.all_reduce(lane, device, mine->view(), scratch->view());
      sums[l].insert(sums[l].end(), mine->view().as<double>(),
                     mine->view().as<double>() + 2);
    }
  };
  team.run(task);
  double in_order = 0;
  for (int lane = 0; lane < lanes; ++lane)
    in_order += lane % 2 == 0 ? 1e16 : -1e16 + lane;
  for (const auto& lane : sums) {
    REQUIRE(lane.size() == 100);
    for (std::size_t round = 0; round < 50; ++round) {
      CHECK(lane[2 * round] == in_order);
      CHECK(lane[2 * round + 1] ==
            lanes * (lanes - 1) / 2 + lanes * static_cast<int>(round));
    }
  }
}

TEST_CASE("a lane that fails releases the others, and the team goes on") {
  LaneTeam team(3);
  const int failing = GENERATE(0, 1, 2);
  const int at = GENERATE(0, 1, 3);
  std::atomic<int> after{0};
  const std::function<void(int)> task = [&](int lane) {
    for (int i = 0; i < 3; ++i) {
      if (lane == failing && i == at) throw Error{Code::kData, "no more"};
      team.barrier(lane);
    }
    if (lane == failing) throw Error{Code::kData, "no more"};
    ++after;
  };
  for (int run = 0; run < 20; ++run) {
    after = 0;
    CHECK_THROWS_MATCHES(team.run(task), Error, Message("no more"));
    // Behind the last barrier there is nobody left to be stopped for sure.
    CHECK(after <= (at == 3 ? 2 : 0));
  }
  int done = 0;
  const std::function<void(int)> fine = [&](int lane) {
    team.barrier(lane);
    if (lane == 0) ++done;
  };
  team.run(fine);
  CHECK(done == 1);
}

TEST_CASE(
    "lanes apart ask for a sum when all are there for it, or not at all") {
  struct Sum : NoSum {
    std::atomic<int> asked{0}, given_up{0};
    void all_reduce(int, tensor::View) override { ++asked; }
    void reduce(int, tensor::View) override { ++asked; }
    void broadcast(int, tensor::View) override { ++asked; }
    void finish(int lane) override { finished[lane] = true; }
    void give_up() noexcept override { ++given_up; }
    bool finished[3] = {};
  };
  auto made = std::make_unique<Sum>();
  Sum& sum = *made;
  LaneTeam team(3, std::move(made));
  const auto devices = device::open_lanes("reference", 3);
  const int kind = GENERATE(0, 1, 2);
  bool fails = true;
  const std::function<void(int)> task = [&](int lane) {
    if (lane == 1 && fails) throw Error{Code::kUnavailable, "no memory"};
    if (kind == 0)
      team.all_reduce(lane, *devices[static_cast<std::size_t>(lane)], {}, {});
    else if (kind == 1)
      team.reduce(lane, {});
    else
      team.broadcast(lane, {});
  };
  CHECK_THROWS_MATCHES(team.run(task), Error, Message("no memory"));
  CHECK(sum.asked == 0);
  CHECK(sum.given_up == 1);
  fails = false;
  team.run(task);
  CHECK(sum.asked == 3);
  CHECK(std::ranges::count(sum.finished, true) == 3);
}

TEST_CASE("lanes apart look at their devices while they wait") {
  // Lane 0 waits for a sum, lane 1 for lane 0, and lane 1's device has failed.
  struct Sum : NoSum {
    std::atomic<bool> given_up{false}, waits{false};
    void check(int lane) override {
      if (lane == 1 && waits) throw Error{Code::kUnavailable, "it has failed"};
    }
    void give_up() noexcept override { given_up = true; }
  };
  auto made = std::make_unique<Sum>();
  Sum& sum = *made;
  LaneTeam team(2, std::move(made));
  const std::function<void(int)> task = [&](int lane) {
    team.broadcast(lane, {});
    if (lane == 0) {
      sum.waits = true;
      while (!sum.given_up) std::this_thread::yield();
    }
    team.barrier(lane);
  };
  CHECK_THROWS_MATCHES(team.run(task), Error, Message("it has failed"));
}

TEST_CASE("nobody gives up a sum while a lane asks for it") {
  struct Sum : NoSum {
    std::atomic<int> in{0}, met{0};
    std::atomic<bool> failed{false};
    void all_reduce(int lane, tensor::View) override {
      ++in;
      // The other one is in it as well, or fails.
      if (lane == 0) {
        --in;
        failed = true;
        throw Error{Code::kUnavailable, "it has failed"};
      }
      while (!failed) std::this_thread::yield();
      for (int i = 0; i < 20; ++i) std::this_thread::yield();
      --in;
    }
    void give_up() noexcept override { met += in; }
  };
  auto made = std::make_unique<Sum>();
  Sum& sum = *made;
  LaneTeam team(2, std::move(made));
  const auto devices = device::open_lanes("reference", 2);
  const std::function<void(int)> task = [&](int lane) {
    team.all_reduce(lane, *devices[static_cast<std::size_t>(lane)], {}, {});
  };
  // Lane 1 may leave before it asks, as lane 0 has failed by then.
  for (int i = 0; i < 20; ++i) {
    sum.failed = false;
    CHECK_THROWS_MATCHES(team.run(task), Error, Message("it has failed"));
  }
  CHECK(sum.met == 0);
}

TEST_CASE("of several errors the first lane's is told") {
  LaneTeam team(4);
  const std::function<void(int)> task = [](int lane) {
    if (lane > 1) throw Error{Code::kData, "lane " + std::to_string(lane)};
  };
  CHECK_THROWS_MATCHES(team.run(task), Error, Message("lane 2"));
}

}  // namespace
}  // namespace dl::nn::lane_team_test
