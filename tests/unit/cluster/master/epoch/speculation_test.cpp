// Work that is overdue is leased to a second worker.

#include <fstream>

#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::speculation_test {

using namespace simulation;

namespace {

Limits speculating() {
  Limits limits;
  limits.speculate = true;
  limits.stuck_after = 1e6;  // nothing else helps
  return limits;
}

// How many events of a run have this in them.
int count(const Folder& folder, const std::string& text) {
  std::ifstream in(folder / "events.jsonl");
  int found = 0;
  for (std::string line; std::getline(in, line);)
    found += line.find(text) != std::string::npos;
  return found;
}

}  // namespace

TEST_CASE("averaging speculates, and gives the same bits") {
  const Settings s = settings(Mode::kAveraging);
  const RunState want = undisturbed(s, 3);
  Folder folder;
  std::optional<RunState> saved;
  Master master(s, speculating(), folder, saved, 1, kExamples);
  master.join("a");
  Worker& slow = master.join("slow");
  master.join("c");
  for (int turn = 0; turn < 4; ++turn) master.turn();
  const bool again = GENERATE(true, false);
  slow.period = again ? 30 : 1'000'000;  // it comes too late, or never
  for (int turn = 0; turn < 500 && !master.over(); ++turn) master.turn();
  REQUIRE(master.coordinator->finished());
  check_exactly_once(folder, 2);
  CHECK(count(folder, "\"copy_of\"") > 0);
  CHECK(count(folder, "another was first") > 0);
  CHECK(master.context.state.parameters == want.parameters);
  CHECK(master.context.state.statistics == want.statistics);
  CHECK(master.context.state.loss_sum == want.loss_sum);
}

TEST_CASE("without --speculate nobody has a copy") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kAveraging), Limits{}, folder, saved, 1,
                kExamples);
  master.join("a");
  master.join("slow").period = 20;
  master.join("c");
  for (int turn = 0; turn < 2000 && !master.over(); ++turn) master.turn();
  REQUIRE(master.coordinator->finished());
  CHECK(count(folder, "\"copy_of\"") == 0);
}

TEST_CASE("averaging that speculates gives the same bits whatever dies") {
  Settings s = settings(Mode::kAveraging);
  const RunState want = undisturbed(s, 3);
  for (const Topology topology : {Topology::kStar, Topology::kTree})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      INFO("seed " << seed);
      Limits limits = speculating();
      limits.stuck_after = 60;
      limits.topology = topology;
      const RunState state = disturbed(s, seed, limits, 4);
      CHECK(state.parameters == want.parameters);
    }
}

TEST_CASE("replicas in a tree that speculate give the same bits") {
  Settings s = settings(Mode::kAveraging);
  s.averaging.workers = 12;
  s.averaging.frequency = 1;
  s.epochs = 6;
  const RunState want = undisturbed(s, 12);
  Limits limits = speculating();
  limits.topology = Topology::kTree;
  limits.fan_out = 2;
  Folder folder;
  std::optional<RunState> saved;
  Master master(s, limits, folder, saved, 1, kExamples);
  for (int i = 0; i < 12; ++i) master.join("w" + std::to_string(i));
  for (int turn = 0; turn < 15; ++turn) master.turn();
  master.link.workers["w5"].period = 1'000'000;
  for (int turn = 0; turn < 1000 && !master.over(); ++turn) master.turn();
  REQUIRE(master.coordinator->finished());
  check_exactly_once(folder, 6);
  CHECK(count(folder, "\"copy_of\"") > 0);
  CHECK(master.context.state.parameters == want.parameters);
}

TEST_CASE("sharing speculates, and each mini-batch counts once") {
  for (const int staleness : {-1, 1}) {
    Settings s = settings(Mode::kSharing);
    if (staleness > 0) s.sharing.staleness = staleness;
    Folder folder;
    std::optional<RunState> saved;
    Master master(s, speculating(), folder, saved, 1, kExamples);
    master.join("a");
    Worker& slow = master.join("slow");
    master.join("c");
    const bool again = GENERATE(true, false);
    for (int turn = 0; turn < 2000 && !master.over(); ++turn) {
      if (turn == 12) slow.period = again ? 15 : 1'000'000;
      master.turn();
    }
    REQUIRE(master.coordinator->finished());
    check_exactly_once(folder, 2);
    CHECK(examples_seen(master.context.state) == 2 * kExamples);
    CHECK(count(folder, "\"copy_of\"") > 0);
    CHECK(count(folder, "another was first") > 0);
  }
}

TEST_CASE("sharing that speculates counts each once whatever dies") {
  for (const bool bounded : {false, true})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      INFO("seed " << seed << (bounded ? ", bounded" : ""));
      Settings s = settings(Mode::kSharing);
      if (bounded) s.sharing.staleness = 2;
      Limits limits = speculating();
      limits.stuck_after = 60;
      disturbed(s, seed, limits, 4);
    }
}

TEST_CASE("evaluation speculates, and each part counts once") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    std::vector<double> scores;
    for (const bool slowly : {false, true}) {
      Settings s = settings(mode);
      s.evaluations = {"regression"};
      s.metric = "rmse";
      Folder folder;
      std::optional<RunState> saved;
      Master master(s, speculating(), folder, saved, 1, kExamples, 100);
      master.join("a");
      Worker& slow = master.join("slow");
      master.join("c");
      for (int turn = 0; turn < 1000 && !master.over(); ++turn) {
        slow.period = slowly && master.coordinator->evaluating() ? 1000 : 1;
        master.turn();
      }
      REQUIRE(master.coordinator->finished());
      CHECK((count(folder, "\"copy_of\"") > 0) == slowly);
      scores.push_back(master.context.state.history[0].metrics.at("rmse"));
    }
    CHECK(scores[0] == scores[1]);
  }
}

}  // namespace dl::cluster::speculation_test
