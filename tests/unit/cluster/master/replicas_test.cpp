#include <catch2/catch.hpp>

#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::replicas_test {

using namespace simulation;

TEST_CASE("replicas of sharing stay equal to the master's parameters") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kSharing);
  s.sharing.combine = Combine::kMean;
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  for (const char* name : {"a", "b", "c"}) master.join(name);
  int turns = 0;
  while (!master.over()) {
    if (++turns == 10) master.join("late");
    master.turn();
    for (const auto& [name, worker] : master.link.workers)
      if (worker.version == master.context.state.version && worker.known)
        CHECK(worker.parameters == master.context.state.parameters);
  }
  CHECK(master.context.report.resyncs == 0);
  CHECK(master.context.state.updater_state == std::vector<float>{1.0F});
}

TEST_CASE("replicas go on with a master that starts again") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kSharing);
  auto master =
      std::make_unique<Master>(s, Limits{}, folder, saved, 1, kExamples);
  for (const char* name : {"a", "b", "c"}) master->join(name);
  for (int turn = 0; turn < 4; ++turn) master->turn();
  // The last updates reach two of them only.
  master->link.workers.at("c").deaf = true;
  for (int turn = 0; turn < 2; ++turn) master->turn();
  const auto workers = std::move(master->link.workers);
  const std::uint64_t version = master->context.state.version;
  REQUIRE(workers.at("c").version < version);
  REQUIRE(workers.at("a").version == version);
  master.reset();

  master = std::make_unique<Master>(s, Limits{}, folder, saved, 2, kExamples);
  REQUIRE(master->context.state.version == version);
  for (const auto& [name, worker] : workers) {
    Worker old = worker;
    old.deaf = false;
    master->join_again(old);
  }
  master->join("d");
  master->turn();
  for (const auto& [name, worker] : master->link.workers) {
    INFO(name);
    CHECK(worker.states == 1);  // its first; the log brought the rest
    CHECK(worker.version == master->context.state.version);
    CHECK(worker.parameters == master->context.state.parameters);
  }
  for (int turn = 0; turn < 5000 && !master->over(); ++turn) master->turn();
  CHECK(master->coordinator->finished());
  CHECK(master->context.report.resyncs == 0);
  check_exactly_once(folder, 2);
}

TEST_CASE("a replica of updates that were lost is sent the state") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kSharing);
  auto master =
      std::make_unique<Master>(s, Limits{}, folder, saved, 1, kExamples);
  master->join("a");
  for (int turn = 0; turn < 8; ++turn) master->turn();
  const Worker old = master->link.workers.at("a");
  master.reset();
  // As after a loss of power: the end of the log was not on the disk.
  const std::string log = update_logs(folder.path()).back().path;
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 200);

  master = std::make_unique<Master>(s, Limits{}, folder, saved, 2, kExamples);
  REQUIRE(master->context.state.version < old.version);
  master->join("b");
  while (master->context.state.version <= old.version) master->turn();
  Worker& worker = master->join_again(old);
  master->turn();
  CHECK(worker.states == old.states + 1);
  CHECK(worker.parameters == master->context.state.parameters);
}

TEST_CASE("a replica that differs at the end of an epoch is sent the state") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kSharing), Limits{}, folder, saved, 1,
                kExamples);
  master.join("a");
  Worker& b = master.join("b");
  master.turn();
  master.turn();
  b.parameters[0] += 1;
  while (master.context.state.epoch == 0) master.turn();
  CHECK(master.context.report.resyncs == 1);
  while (!master.over()) master.turn();
  CHECK(master.context.report.resyncs == 1);
}

TEST_CASE("a replica that differs is found in the middle of an epoch") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kSharing);
  s.sharing.agree_every = 10;
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  Worker& a = master.join("a");
  Worker& b = master.join("b");
  master.context.state.statistics = {0};
  a.statistics = {1};
  b.statistics = {3};
  master.turn();
  master.turn();
  b.parameters[0] += 1;
  while (master.context.report.resyncs == 0) master.turn();
  CHECK(master.context.state.epoch == 0);
  CHECK(master.context.report.batches < 15);
  // Running statistics are averaged by then, and told.
  master.turn();
  CHECK(master.context.state.statistics.at(0) > 1);
  CHECK(master.context.state.statistics.at(0) < 3);
  CHECK(a.statistics == master.context.state.statistics);
  CHECK(b.statistics == master.context.state.statistics);
  while (!master.over()) master.turn();
  CHECK(master.context.report.resyncs == 1);
  check_exactly_once(folder, 2);
}

}  // namespace dl::cluster::replicas_test
