// Averaging in the simulation: each form of difference, outer optimizer, policy
// for updater state and overlap.

#include <catch2/catch.hpp>

#include "libcore/cluster/run_dir/replay.h"
#include "libcore/cluster/settings/averaging_settings.h"
#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::averaging_test {

using namespace simulation;
using dl::exchange::DeltaFormat;
using dl::exchange::OuterOptimizer;

namespace {

Settings averaging() { return settings(Mode::kAveraging); }

struct Way {
  const char* name;
  AveragingSettings settings;
};

Settings with(const AveragingSettings& how) {
  Settings s = averaging();
  const auto frequency = s.averaging.frequency;
  s.averaging = how;
  s.averaging.frequency = frequency;
  s.averaging.workers = 3;
  return s;
}

// Every combination that makes sense.
std::vector<Settings> all_ways(bool with_history) {
  std::vector<Settings> ways;
  for (const char* format : {"f32", "f16", "int8", "sparse:0.2:8"})
    for (const auto policy :
         {UpdaterState::kAverage, UpdaterState::kKeep, UpdaterState::kReset})
      for (const OuterOptimizer& outer :
           {OuterOptimizer{},
            OuterOptimizer{OuterOptimizer::Kind::kMomentum, 1, 0.5},
            OuterOptimizer{OuterOptimizer::Kind::kNesterov, 0.7, 0.5}})
        for (const bool overlap : {false, true}) {
          if (overlap && policy == UpdaterState::kAverage) continue;
          AveragingSettings how;
          how.delta = DeltaFormat::parse(format);
          how.updater_state = policy;
          how.outer = outer;
          how.overlap = overlap;
          if (how.keeps_history() == with_history) ways.push_back(with(how));
        }
  return ways;
}

std::string text(const Settings& s) { return s.averaging.to_json().dump(); }

void check_equal(const RunState& a, const RunState& b) {
  CHECK(a.parameters == b.parameters);
  CHECK(a.statistics == b.statistics);
  CHECK(a.updater_state == b.updater_state);
  CHECK(a.velocity == b.velocity);
  CHECK(a.residual == b.residual);
  CHECK(a.version == b.version);
}

// The parameters that each worker gets from the rounds are the master's.
void check_replicas(Master& master) {
  Task task;
  task.kind = TaskKind::kEvaluate;
  task.version = master.context.state.version;
  for (auto& [name, worker] : master.link.workers) {
    const Member* member = master.context.members.find(worker.peer);
    if (!member || !member->in_step) continue;
    const auto start = worker.keeper->begin(task);
    REQUIRE(start);
    const auto& want = master.context.state.parameters;
    CHECK(std::equal(want.begin(), want.end(), start->parameters.begin(),
                     start->parameters.end()));
  }
}

}  // namespace

TEST_CASE("averaging gives the same bits whoever does the work") {
  for (const bool history : {false, true})
    for (const Settings& s : all_ways(history)) {
      INFO(text(s));
      const RunState want = undisturbed(s, 3);
      check_equal(undisturbed(s, 1), want);
      check_equal(undisturbed(s, 2), want);
      check_equal(undisturbed(s, 5), want);
    }
}

TEST_CASE("averaging without histories gives the same bits whatever dies") {
  const auto ways = all_ways(false);
  CHECK(ways.size() == 6);
  for (const Settings& s : ways) {
    INFO(text(s));
    const RunState want = undisturbed(s, 3);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      INFO("seed " << seed);
      check_equal(disturbed(s, seed), want);
    }
  }
}

TEST_CASE("averaging with histories commits each once whatever dies") {
  for (const Settings& s : all_ways(true)) {
    INFO(text(s));
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      INFO("seed " << seed);
      const RunState state = disturbed(s, seed);
      CHECK(all_finite(state.parameters));
      CHECK(examples_seen(state) == 2 * kExamples);
    }
  }
}

TEST_CASE("workers follow the master's steps to the last bit") {
  for (const bool history : {false, true})
    for (const Settings& s : all_ways(history)) {
      INFO(text(s));
      Folder folder;
      std::optional<RunState> saved;
      Master master(s, Limits{}, folder, saved, 1, kExamples);
      for (const char* name : {"a", "b", "c"}) master.join(name);
      int turns = 0;
      while (!master.over()) {
        if (++turns == 5) master.join("late");
        master.turn();
      }
      check_replicas(master);
    }
}

TEST_CASE("who says that its replica differs is sent the State") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(averaging(), Limits{}, folder, saved, 1, kExamples);
  Worker& a = master.join("a");
  for (const char* name : {"b", "c"}) master.join(name);
  while (master.context.state.version < 2) master.turn();
  Digest digest;
  digest.sequence = 2;
  digest.digest = master.context.round_digests.at(2);
  master.deliver(a, digest.to_message());  // no difference
  CHECK(master.context.report.rejected == 1);
  for (int i = 0; i < 5; ++i) master.turn();
  const int states = a.states;
  digest.sequence = master.context.state.version;
  digest.digest = 7;
  master.deliver(a, digest.to_message());
  CHECK(master.context.report.resyncs == 1);
  while (!master.over()) master.turn();
  CHECK(a.states == states + 1);
  CHECK(master.context.report.rejected == 1);
  check_exactly_once(folder, 2);
  check_equal(master.context.state, undisturbed(averaging(), 3));
}

TEST_CASE("State goes out once, then rounds") {
  AveragingSettings how;
  how.outer = {OuterOptimizer::Kind::kNesterov, 0.7, 0.9};
  Folder folder;
  std::optional<RunState> saved;
  Master master(with(how), Limits{}, folder, saved, 1, kExamples);
  for (const char* name : {"a", "b", "c"}) master.join(name);
  while (!master.over()) master.turn();
  for (const auto& [name, worker] : master.link.workers)
    CHECK(worker.states == 1);
  CHECK(master.context.state.velocity.size() == kParameters);
}

TEST_CASE("one worker's plain average is where it came to") {
  Settings s = averaging();
  s.averaging.workers = 1;
  s.averaging.frequency = 100;
  s.epochs = 1;
  const RunState state = undisturbed(s, 1);
  std::vector<float> want(kParameters, 1), momentum(kParameters);
  for (std::int64_t i = 0; i < 51; ++i) {
    const auto step = step_of(want, 0, i);
    for (std::size_t j = 0; j < kParameters; ++j) {
      momentum[j] = 0.5F * momentum[j] + step[j];
      want[j] -= momentum[j];
    }
  }
  for (std::size_t j = 0; j < kParameters; ++j)
    CHECK(state.parameters[j] == Approx(want[j]).margin(1e-6));
}

// With its log, and with a checkpoint after every round.
TEST_CASE("a master that is killed goes on from its last round") {
  for (const bool history : {false, true})
    for (const Settings& s : all_ways(history))
      for (const std::int64_t checkpoint_batches : {0, 1}) {
        INFO(text(s));
        Folder folder;
        std::optional<RunState> saved;
        Limits limits;
        limits.checkpoint_batches = checkpoint_batches;
        std::uint64_t incarnation = 1;
        auto master = std::make_unique<Master>(s, limits, folder, saved,
                                               incarnation, kExamples);
        for (int turn = 0; !master->over(); ++turn) {
          REQUIRE(turn < 1000);
          if (turn % 7 == 0) {
            const RunState before = std::move(master->context.state);
            master.reset();
            master = std::make_unique<Master>(s, limits, folder, saved,
                                              ++incarnation, kExamples);
            check_goes_on(before, master->context.state);
            if (before.version > 0) check_equal(master->context.state, before);
            for (const char* name : {"a", "b", "c"}) master->join(name);
          }
          master->turn();
        }
        CHECK(incarnation > 2);
        check_exactly_once(folder, 2);
        // Histories are lost with the connection, and rounds under way start
        // from elsewhere.
        if (!history) check_equal(master->context.state, undisturbed(s, 3));
      }
}

TEST_CASE("the log gives back the state after every round") {
  for (const bool history : {false, true})
    for (const Settings& s : all_ways(history)) {
      INFO(text(s));
      Folder folder;
      std::optional<RunState> saved;
      Master master(s, Limits{}, folder, saved, 1, kExamples);
      for (const char* name : {"a", "b", "c"}) master.join(name);
      std::vector<RunState> seen = {master.context.state};
      while (seen.back().version < 7) {  // in the second epoch
        master.turn();
        if (master.context.state.version > seen.back().version)
          seen.push_back(master.context.state);
      }
      CHECK(seen.back().epoch == 1);
      for (const RunState& want : seen) {
        RunState state = seen.front();
        CHECK(replay(folder.path(), {kParameters, 0}, state, want.version,
                     [](dl::Level, const std::string& line) { FAIL(line); }) ==
              want.version);
        if (want.version > 0) check_equal(state, want);
        CHECK(state.iteration == want.iteration);
      }
    }
}

TEST_CASE("a round that was not written whole is done again") {
  const Settings s = averaging();
  Folder folder;
  std::optional<RunState> saved;
  auto master =
      std::make_unique<Master>(s, Limits{}, folder, saved, 1, kExamples);
  master->join("a");
  while (master->context.state.version < 3) master->turn();
  master.reset();
  const std::string log = update_logs(folder.path()).back().path;
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 1);
  master = std::make_unique<Master>(s, Limits{}, folder, saved, 2, kExamples);
  CHECK(master->context.state.version == 2);
  master->join("a");
  while (!master->over()) master->turn();
  check_equal(master->context.state, undisturbed(s, 3));
  check_exactly_once(folder, 2);
}

TEST_CASE("a log that has grown large calls for a checkpoint") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(averaging(), Limits{}, folder, saved, 1, kExamples);
  master.join("a");
  while (master.context.state.version < 1) master.turn();
  CHECK_FALSE(saved);
  LogEntry large;
  large.kind = EntryKind::kStart;
  const std::vector<std::byte> payload(std::size_t{64} << 20);
  large.payload = payload;
  master.updates->append(large);
  master.turn();
  REQUIRE(saved);
  CHECK(saved->version >= 1);
  const auto at = saved->version;
  while (master.context.state.version < at + 2) master.turn();
  CHECK(saved->version == at);
}

TEST_CASE("bmuf's momentum follows from the replicas of a whole round") {
  AveragingSettings how;
  how.outer = {OuterOptimizer::Kind::kNesterov, 1, 0};
  how.momentum_of_replicas = true;
  AveragingSettings said = how;
  said.momentum_of_replicas = false;
  said.outer.momentum = 1 - 1.0 / 3;
  check_equal(undisturbed(with(how), 3), undisturbed(with(said), 3));
}

TEST_CASE("a kept updater state is lost with its worker and counted") {
  AveragingSettings how;
  how.updater_state = UpdaterState::kKeep;
  Folder folder;
  std::optional<RunState> saved;
  Master master(with(how), Limits{}, folder, saved, 1, kExamples);
  for (const char* name : {"a", "b", "c"}) master.join(name);
  for (int i = 0; i < 3; ++i) master.turn();
  CHECK(master.context.slots.lost() == 0);
  master.deliver(master.link.workers["b"], Leave{"test"}.to_message());
  master.link.workers["b"].alive = false;
  CHECK(master.context.slots.lost() == 1);
  while (!master.over()) master.turn();
  CHECK(master.context.slots.lost() == 1);
}

TEST_CASE("rounds that overlap start from what the slot learnt itself") {
  AveragingSettings how;
  how.updater_state = UpdaterState::kReset;
  how.overlap = true;
  Settings s = with(how);
  s.averaging.workers = 2;
  s.averaging.frequency = 2;
  s.epochs = 1;
  // By hand: 16 examples in 4 mini-batches, two rounds of two slots.
  const auto train = [](std::vector<float> replica, std::int64_t first) {
    std::vector<float> momentum(kParameters);
    for (std::int64_t i = first; i < first + 2; ++i) {
      const auto step = step_of(replica, 0, i);
      for (std::size_t j = 0; j < kParameters; ++j) {
        momentum[j] = 0.5F * momentum[j] + step[j];
        replica[j] -= momentum[j];
      }
    }
    return replica;
  };
  const std::vector<float> start(kParameters, 1);
  const auto a1 = train(start, 0), b1 = train(start, 2);
  const auto a2 = train(a1, 4), b2 = train(b1, 6);  // start + own difference
  std::vector<float> want(kParameters);
  for (std::size_t j = 0; j < kParameters; ++j) {
    const float first = start[j] + (a1[j] + b1[j] - 2 * start[j]) / 2;
    want[j] = first + (a2[j] - a1[j] + b2[j] - b1[j]) / 2;
  }
  Folder folder;
  std::optional<RunState> saved;
  Master master(s, Limits{}, folder, saved, 1, 32);
  master.join("a");
  master.join("b");
  while (!master.over()) master.turn();
  for (std::size_t j = 0; j < kParameters; ++j)
    CHECK(master.context.state.parameters[j] == Approx(want[j]).margin(1e-6));
  CHECK(master.context.state.version == 2);
}

TEST_CASE("the next round's work is there before the answer is sent") {
  AveragingSettings how;
  how.updater_state = UpdaterState::kReset;
  how.overlap = true;
  Folder folder;
  std::optional<RunState> saved;
  Master master(with(how), Limits{}, folder, saved, 1, kExamples);
  Worker& a = master.join("a");
  master.join("b");
  master.join("c");
  master.coordinator->tick(master.now);
  REQUIRE(a.tasks.size() == 2);
  CHECK(a.tasks[0].slot.round == 1);
  CHECK(a.tasks[1].slot.round == 2);
  CHECK(a.tasks[1].slot.follows == 1);
  CHECK(a.tasks[1].version == 0);
  CHECK(a.tasks[1].iteration == 4);
  master.turn();  // round 1 ends; round 2 is under way
  CHECK(master.context.state.version == 1);
  REQUIRE(a.tasks.size() == 2);
  CHECK(a.tasks[1].slot.round == 3);
  CHECK(a.tasks[1].version == 1);
}

TEST_CASE("a fault in a round takes the slot's next one back") {
  AveragingSettings how;
  how.updater_state = UpdaterState::kKeep;
  how.overlap = true;
  Folder folder;
  std::optional<RunState> saved;
  Master master(with(how), Limits{}, folder, saved, 1, kExamples);
  Worker& a = master.join("a");
  master.join("b");
  master.join("c");
  master.turn();
  for (int i = 0; i < 200 && master.context.report.rejected < 4; ++i) {
    a.poison = true;
    master.turn();
  }
  CHECK(master.context.report.rejected == 4);
  CHECK(master.context.report.revoked >= 2);
  while (!master.over()) master.turn();
  check_exactly_once(folder, 2);
  check_replicas(master);
}

TEST_CASE("rounds go on while connections of two workers take turns") {
  AveragingSettings how;
  how.updater_state = UpdaterState::kKeep;
  Settings s = with(how);
  s.averaging.workers = 2;
  s.epochs = 1000;
  Folder folder;
  std::optional<RunState> saved;
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  master.join("a");
  master.join("b");
  const auto end_of = [&](const char* name) {
    master.link.workers[name].alive = false;
    master.link.ended.push_back({name, ""});
  };
  const auto turns = [&](int count) {
    for (int i = 0; i < count; ++i) master.turn();
  };
  turns(5);
  end_of("a");
  for (int i = 0; i < 5; ++i) {
    const auto before = master.context.state.version;
    turns(2);
    master.join("a");
    end_of("b");
    turns(14);  // 1.4 s
    master.join("b");
    end_of("a");
    turns(14);
    CHECK(master.context.state.version > before + 2);
  }
}

TEST_CASE("a slot of this round comes to a worker that has done the next one") {
  AveragingSettings how;
  how.updater_state = UpdaterState::kKeep;
  how.overlap = true;
  Settings s = with(how);
  s.averaging.workers = 2;
  Folder folder;
  std::optional<RunState> saved;
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  Worker& a = master.join("a");
  master.coordinator->tick(master.now);
  CHECK(a.tasks.size() == 4);  // rounds 1 and 2
  Worker& b = master.join("b");
  b.period = 1000;
  master.turn();
  master.turn();
  CHECK(master.context.state.version == 1);
  std::swap(a.period, b.period);
  REQUIRE(b.tasks.size() == 1);
  CHECK(b.tasks[0].slot.round == 3);
  const std::int64_t slot = b.tasks[0].slot.index;
  master.turn();
  CHECK(b.tasks.empty());
  master.deliver(a, Leave{"test"}.to_message());
  a.alive = false;
  master.coordinator->tick(master.now);
  REQUIRE(b.tasks.size() >= 2);
  for (const Task& task : b.tasks) {
    if (task.slot.index != slot) continue;
    CHECK(task.slot.round == 2);
    CHECK(task.slot.follows == 0);  // not 3, whose updater is ahead
  }
  while (!master.over()) master.turn();
  check_exactly_once(folder, 2);
}

TEST_CASE("one replica learns the same wherever its rounds end") {
  Settings s = averaging();
  s.averaging.alone = true;
  s.averaging.workers = 0;
  Limits often;
  often.checkpoint_batches = 7;
  const RunState calm = undisturbed(s, 1), cut = undisturbed(s, 1, often);
  CHECK(calm.version < cut.version);
  CHECK(calm.parameters == cut.parameters);
  CHECK(calm.statistics == cut.statistics);
  CHECK(calm.updater_state == cut.updater_state);
  CHECK(calm.iteration == 2 * 51);
}

TEST_CASE("a replica that is alone is cut short where another one comes") {
  Settings s = averaging();
  s.averaging.alone = true;
  s.averaging.workers = 0;
  s.epochs = 3;
  Folder folder;
  std::optional<RunState> saved;
  Master master(s, {}, folder, saved, 1, kExamples);
  Worker& first = master.join("first");
  while (master.context.report.batches < 1) master.turn();
  // It is held up in a round that is longer than one mini-batch.
  first.period = 50;
  master.join("second");
  for (int turn = 0; turn < 5000 && !master.over(); ++turn) master.turn();
  REQUIRE(master.coordinator->finished());
  check_exactly_once(folder, s.epochs);
  CHECK(first.cut > 0);
}

TEST_CASE("a replica that is alone survives whatever comes, and others") {
  Settings s = averaging();
  s.averaging.alone = true;
  s.averaging.workers = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    INFO("seed " << seed);
    disturbed(s, seed);
  }
}

}  // namespace dl::cluster::averaging_test
