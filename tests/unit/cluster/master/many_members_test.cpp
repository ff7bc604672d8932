// A master's work for a message does not grow with its members, nor with
// those that it once had: work is counted, not timed.

#include <catch2/catch.hpp>

#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::many_members_test {

using namespace simulation;

namespace {

Hello newcomer(std::uint64_t number) {
  Hello hello;
  hello.host = "host";
  hello.pid = static_cast<std::int64_t>(number);
  hello.process = number;
  hello.name = "w" + std::to_string(number);
  return hello;
}

// Members looked at for an update, where each worker makes ten a second.
double looks_for_update(int workers, int staleness = -1) {
  Folder folder;
  std::optional<RunState> saved;
  Limits limits;
  limits.topology = Topology::kTree;
  Settings s = settings(Mode::kSharing);
  s.batch = 1;
  if (staleness >= 0) s.sharing.staleness = staleness;
  Master master(s, limits, folder, saved, 1, std::int64_t{1000} * workers);
  for (int i = 0; i < workers; ++i) master.join("w" + std::to_string(i));
  while (master.context.members.fed_by_master().size() > 8) master.turn();
  const std::uint64_t before = master.context.members.looked_at();
  const std::uint64_t version = master.context.state.version;
  for (int turn = 0; turn < 2; ++turn)
    for (auto& [name, worker] : master.link.workers) {
      worker.branch->step(worker, SIZE_MAX);
      worker.work(Mode::kSharing, master.order);
      master.flush(worker);
      master.coordinator->tick(master.now += 0.1 / workers);
    }
  const std::uint64_t updates = master.context.state.version - version;
  REQUIRE(updates >= static_cast<std::uint64_t>(workers));
  return static_cast<double>(master.context.members.looked_at() - before) /
         static_cast<double>(updates);
}

// The same for a Result of averaging, whose workers are not at it together.
double looks_for_result(int workers) {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kAveraging);
  s.batch = 1;
  s.averaging.frequency = 1;
  s.averaging.workers = workers;
  Master master(s, Limits{}, folder, saved, 1, std::int64_t{1000} * workers);
  for (int i = 0; i < workers; ++i) master.join("w" + std::to_string(i));
  master.turn();
  const std::uint64_t before = master.context.members.looked_at();
  const std::uint64_t version = master.context.state.version;
  for (int turn = 0; turn < 4; ++turn)
    for (auto& [name, worker] : master.link.workers) {
      worker.branch->step(worker, SIZE_MAX);
      worker.work(Mode::kAveraging, master.order);
      master.flush(worker);
      master.coordinator->tick(master.now += 0.1 / workers);
    }
  const std::uint64_t rounds = master.context.state.version - version;
  REQUIRE(rounds >= 2);
  return static_cast<double>(master.context.members.looked_at() - before) /
         static_cast<double>(rounds * static_cast<std::uint64_t>(workers));
}

}  // namespace

TEST_CASE("a Result costs as much among many workers as among few") {
  const double few = looks_for_result(32), many = looks_for_result(512);
  CHECK(few < 40);
  CHECK(many < 40);
}

TEST_CASE(
    "an update of sharing costs as much among many workers as among few") {
  for (const int staleness : {-1, 4, 0}) {
    INFO(staleness);
    const double few = looks_for_update(32, staleness),
                 many = looks_for_update(512, staleness);
    CHECK(few < 200);
    CHECK(many < 1.5 * few);
  }
}

TEST_CASE("members that were lost are forgotten") {
  Membership members;
  members.admit("good", newcomer(1), 0, 6, nullptr).ready = true;
  double now = 0;
  for (std::uint64_t i = 2; i <= 100'000; ++i) {
    const std::string peer = "p" + std::to_string(i);
    members.admit(peer, newcomer(i), now, 6, nullptr).ready = true;
    now += 10;
    members.heard(*members.find("good"), now);
    members.silent(now, 6, 1);
    members.forget_silent();
    REQUIRE(members.size() <= 2 + Membership::kSilentKept);
    // One that was lost a moment ago is known when it is back.
    if (i % 1000 == 0) CHECK(members.find(peer)->silent);
  }
  CHECK(members.workers().size() == 1);
}

TEST_CASE("a run in which workers come and die does not slow down") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kSharing);
  s.epochs = 1000;
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  master.join("good");
  const auto looks = [&] {
    const std::uint64_t before = master.context.members.looked_at();
    for (int turn = 0; turn < 20; ++turn) master.turn();
    return master.context.members.looked_at() - before;
  };
  for (int turn = 0; turn < 20; ++turn) master.turn();
  const std::uint64_t at_first = looks();
  for (int i = 0; i < 500; ++i) {
    const std::string name = "bad" + std::to_string(i);
    master.join(name);
    master.turn();
    master.link.ended.push_back({name, ""});
    master.link.workers.erase(name);
  }
  while (master.context.members.present().size() > 1) master.turn();
  CHECK(looks() <= at_first * (2 + Membership::kSilentKept));
  CHECK(master.context.report.lost == 500);
}

}  // namespace dl::cluster::many_members_test
