// Sharing with bounded staleness, through whole runs.

#include <catch2/catch.hpp>

#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::sharing_bound_test {

using namespace simulation;

namespace {

// Sharing whose rounds are of three mini-batches.
Settings bounded(std::int64_t staleness) {
  Settings s = settings(Mode::kSharing);
  s.averaging.workers = 3;
  s.sharing.staleness = staleness;
  return s;
}

}  // namespace

TEST_CASE("sharing without staleness gives the same bits whoever works") {
  const auto want = undisturbed(bounded(0), 3).parameters;
  // The simulation's residuals are empty after each mini-batch, so that whose
  // they are makes no difference.
  CHECK(undisturbed(bounded(0), 1).parameters == want);
  CHECK(undisturbed(bounded(0), 2).parameters == want);
  CHECK(undisturbed(bounded(0), 5).parameters == want);
}

TEST_CASE(
    "slots stay with a process that connects again, in later epochs too") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = bounded(0);
  s.averaging.workers = 0;
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  for (const char* name : {"a", "b", "c"}) master.join(name);
  master.turn();
  const auto owner = [&](std::size_t slot) {
    const auto number = master.context.sharing_owners.at(slot);
    return master.context.members.find(number)->hello.name;
  };
  const std::vector<std::string> before = {owner(0), owner(1), owner(2)};
  for (const std::string& name : before) {
    // Between Hello and Ready nobody gets its slots.
    Worker& worker = master.link.workers.at(name);
    worker.tasks.clear();
    worker.pending.clear();
    worker.out.clear();
    worker.done = 0;
    worker.branch = std::make_shared<Branch>(master.link, name);
    master.deliver(worker, worker.hello.to_message());
    for (int i = 0; i < 3; ++i) master.coordinator->tick(master.now += 0.1);
    CHECK(master.context.sharing_owners.size() == 3);
    CHECK(std::vector{owner(0), owner(1), owner(2)} == before);
    master.flush(worker);
    const std::int64_t epoch = master.context.state.epoch;
    for (int i = 0; i < 4; ++i) master.turn();
    CHECK(master.context.state.epoch == epoch);
  }
  while (master.context.state.epoch == 0) master.turn();
  master.turn();
  CHECK(std::vector{owner(0), owner(1), owner(2)} == before);
  while (!master.over()) master.turn();
  check_exactly_once(folder, 2);
}

TEST_CASE("sharing with bounded staleness survives what dies") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    INFO("seed " << seed);
    disturbed(bounded(0), seed);
    disturbed(bounded(2), seed);
  }
}

TEST_CASE("a bound holds back who is ahead of the slowest") {
  Folder folder;
  std::optional<RunState> saved;
  Limits limits;
  limits.lost_after = limits.stuck_after = 1e6;
  Master master(bounded(1), limits, folder, saved, 1, kExamples);
  for (const char* name : {"a", "b", "c"}) master.join(name);
  master.coordinator->tick(master.now);
  Worker& slow = master.link.workers.at("a");
  REQUIRE_FALSE(slow.tasks.empty());
  CHECK(slow.tasks.front().first < 3);
  slow.in_flight = 0;  // it does nothing for now
  for (int i = 0; i < 50; ++i) master.turn();
  // Rounds 0 and 1 but for what the slow one holds.
  CHECK(master.context.report.batches + slow.tasks.size() == 6);
  slow.in_flight = 1;
  while (!master.over()) master.turn();
  check_exactly_once(folder, 2);
}

TEST_CASE("a stop does not wait for a round that will not be completed") {
  for (const std::int64_t staleness : {0, 1}) {
    Folder folder;
    std::optional<RunState> saved;
    {
      Master master(bounded(staleness), Limits{}, folder, saved, 1, kExamples);
      Worker& a = master.join("a");
      for (int i = 0; i < 3; ++i) master.turn();
      CHECK_FALSE(a.tasks.empty());
      master.coordinator->stop("SIGTERM", master.now);
      for (int i = 0; i < 20 && !master.over(); ++i) master.turn();
      CHECK(master.coordinator->stopped());
      CHECK(a.tasks.empty());
    }
    Master again(bounded(staleness), Limits{}, folder, saved, 2, kExamples);
    again.join("a");
    while (!again.over()) again.turn();
    check_exactly_once(folder, 2);
  }
}

}  // namespace dl::cluster::sharing_bound_test
