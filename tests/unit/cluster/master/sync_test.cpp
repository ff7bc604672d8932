// Mode sync in the simulation: rounds whose slots give gradients, and one step
// of the updater for each.

#include <catch2/catch.hpp>

#include "libcore/exchange/rules/average.h"
#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::sync_test {

using namespace simulation;

namespace {

Settings in_sync(std::int64_t slots = 3) {
  Settings s = settings(Mode::kSync);
  s.averaging.workers = slots;
  return s;
}

void check_equal(const RunState& a, const RunState& b) {
  CHECK(a.parameters == b.parameters);
  CHECK(a.statistics == b.statistics);
  CHECK(a.updater_state == b.updater_state);
  CHECK(a.version == b.version);
  CHECK(a.iteration == b.iteration);
}

Limits tree(std::int64_t fan_out) {
  Limits limits;
  limits.topology = Topology::kTree;
  limits.fan_out = fan_out;
  return limits;
}

}  // namespace

TEST_CASE(
    "sync takes one step of the updater for the mini-batches of a round") {
  const Settings s = in_sync();
  const RunState state = undisturbed(s, 2);
  const dl::data::Catalogue catalogue{{{kExamples}}};
  dl::nn::HostUpdater updater(network());
  std::vector<float> parameters(kParameters, 1), velocity(kParameters);
  dl::nn::Position at;
  for (at.epoch = 0; at.epoch < s.epochs; ++at.epoch) {
    const dl::data::Epoch order(catalogue, s.batch, s.seed,
                                static_cast<std::uint64_t>(at.epoch), true);
    for (std::int64_t first = 0; first < order.batches(); first += 3) {
      const auto slots =
          static_cast<std::size_t>(std::min<std::int64_t>(3, 51 - first));
      dl::exchange::Average mean(slots, kParameters);
      for (std::size_t i = 0; i < slots; ++i) {
        const std::int64_t batch = first + static_cast<std::int64_t>(i);
        mean.put(i, step_of(parameters, at.epoch, batch),
                 static_cast<double>(order.examples(batch, 1)));
      }
      std::vector<float> gradient = mean.result();
      REQUIRE(updater.step(at, gradient, parameters, velocity));
      ++at.iteration;
    }
  }
  CHECK(state.iteration == at.iteration);
  CHECK(state.parameters == parameters);
  CHECK(state.updater_state == velocity);
}

TEST_CASE("sync gives the same bits whoever does the work") {
  const RunState want = undisturbed(in_sync(), 3);
  check_equal(undisturbed(in_sync(), 1), want);
  check_equal(undisturbed(in_sync(), 2), want);
  check_equal(undisturbed(in_sync(), 5), want);
}

TEST_CASE("sync gives the same bits whatever dies") {
  const RunState want = undisturbed(in_sync(), 3);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    check_equal(disturbed(in_sync(), seed), want);
  }
}

TEST_CASE("sync in a tree gives what it gives in a star, whatever dies") {
  const Settings s = in_sync(20);
  const RunState want = undisturbed(s, 20);
  check_equal(undisturbed(s, 20, tree(2)), want);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    check_equal(disturbed(s, seed, tree(2), 12), want);
  }
}

TEST_CASE("workers of sync follow the master's steps to the last bit") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(in_sync(), Limits{}, folder, saved, 1, kExamples);
  master.means_are_late = true;
  for (const char* name : {"a", "b", "c"}) master.join(name);
  // By version.  Workers are ahead of the master at times.
  std::map<std::uint64_t, std::vector<float>> after;
  std::map<std::pair<std::uint64_t, std::string>, std::vector<float>> theirs;
  std::uint64_t ahead = 0;
  while (!master.over()) {
    master.turn();
    const RunState& state = master.context.state;
    after[state.version] = state.parameters;
    for (auto& [name, worker] : master.link.workers) {
      theirs[{worker.version, name}] = *worker.shared;
      if (worker.version > state.version) ++ahead;
    }
  }
  std::uint64_t compared = 0;
  for (const auto& [at, parameters] : theirs) {
    if (!after.contains(at.first)) continue;
    CHECK(parameters == after.at(at.first));
    ++compared;
  }
  CHECK(compared > 3 * 20);
  CHECK(ahead > 0);
  for (const auto& [name, worker] : master.link.workers)
    CHECK(worker.states == 1);
}

// Whoever dies, and at whatever time: others may have gone ahead with what it
// sent, or have slots of the next round that wait for this one.
TEST_CASE("sync goes on with those that are left, at once") {
  const RunState want = undisturbed(in_sync(), 3);
  for (const bool late : {false, true})
    for (int when = 3; when < 25; ++when)
      for (const char* who : {"a", "b", "c"}) {
        INFO(who << " dies in turn " << when << (late ? ", late" : ""));
        Folder folder;
        std::optional<RunState> saved;
        Master master(in_sync(), Limits{}, folder, saved, 1, kExamples);
        master.means_are_late = late;
        for (const char* name : {"a", "b", "c"}) master.join(name);
        int turns = 0;
        for (; turns < 400 && !master.over(); ++turns) {
          if (turns == when) {
            Worker& worker = master.link.workers.at(who);
            worker.alive = false;
            worker.hello.pid = 1;  // it is seen at once
          }
          master.turn();
        }
        REQUIRE(master.over());
        check_equal(master.context.state, want);
      }
}

TEST_CASE("a worker that comes to sync is waited for by nobody") {
  const RunState want = undisturbed(in_sync(4), 3);
  for (const bool late : {false, true})
    for (const std::size_t first : {1UL, 2UL, 3UL})
      for (int when = 1; when < 25; ++when) {
        INFO(first << " workers, more in turn " << when
                   << (late ? ", late" : ""));
        Folder folder;
        std::optional<RunState> saved;
        Master master(in_sync(4), Limits{}, folder, saved, 1, kExamples);
        master.means_are_late = late;
        for (std::size_t i = 0; i < first; ++i)
          master.join("w" + std::to_string(i));
        int turns = 0;
        for (; turns < 400 && !master.over(); ++turns) {
          if (turns == when) master.join("x");
          if (turns == when + 1) master.join("y");
          master.turn();
        }
        REQUIRE(master.over());
        check_equal(master.context.state, want);
        CHECK(master.context.report.lost == 0);
      }
}

// It may have a slot of the round to come already.
TEST_CASE("a worker of sync that waits for a slow one does not stand still") {
  Folder folder;
  std::optional<RunState> saved;
  Limits limits;
  limits.stuck_after = 10;
  Master master(in_sync(), limits, folder, saved, 1, kExamples);
  for (const char* name : {"a", "b", "c"}) master.join(name);
  for (int turn = 0; turn < 10; ++turn) master.turn();
  Worker& slow = master.link.workers.at("c");
  slow.period = 150;
  slow.tells = 60;
  for (int turn = 0; turn < 250; ++turn) master.turn();
  slow.period = 1;
  slow.tells = 0;
  while (!master.over()) master.turn();
  REQUIRE(master.coordinator->finished());
  check_equal(master.context.state, undisturbed(in_sync(), 3));
  CHECK(count_events(folder, "lost") == 0);
}

TEST_CASE("a gradient that is out of all proportion is done again") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(in_sync(), Limits{}, folder, saved, 1, kExamples);
  for (const char* name : {"a", "b", "c"}) master.join(name);
  for (int turn = 0; turn < 20; ++turn) master.turn();
  master.link.workers.at("b").exaggerates = 3e38F;
  while (!master.over()) master.turn();
  REQUIRE(master.coordinator->finished());
  check_equal(master.context.state, undisturbed(in_sync(), 3));
  CHECK(count_events(folder, "fault") == 1);
}

}  // namespace dl::cluster::sync_test
