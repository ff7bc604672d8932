#include "libcore/cluster/master/coordinator.h"

#include <catch2/catch.hpp>

#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::coordinator_test {

using namespace simulation;

TEST_CASE("sharing commits every mini-batch once whatever dies") {
  undisturbed(settings(Mode::kSharing), 1);
  undisturbed(settings(Mode::kSharing), 3);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    disturbed(settings(Mode::kSharing), seed);
  }
}

TEST_CASE("an update weighs by the number of workers and by its age") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kSharing);
  s.sharing.combine = Combine::kScaled;
  s.sharing.staleness_rule = dl::exchange::StalenessRule::parse("inverse");
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  for (const char* name : {"a", "b", "c", "d"}) master.join(name);
  master.turn();  // leases
  const auto before = master.context.state.parameters;
  // Four updates from the same parameters.
  for (auto& [name, worker] : master.link.workers)
    worker.work(Mode::kSharing, master.order);
  for (auto& [name, worker] : master.link.workers) master.flush(worker);
  // Half of kStep each: those of staleness 0 and 1 whole, then 1/2 and 1/3.
  const auto& after = master.context.state.parameters;
  const std::vector<float> worth = {1, 1, 0.5F, 1.0F / 3};
  float moved = 0, want = 0;
  for (std::size_t i = 0; i < after.size(); ++i)
    moved += std::fabs(after[i] - before[i]);
  for (const float part : worth) want += kStep / 2 * part;
  CHECK(moved == Approx(want));
  CHECK(master.context.report.staleness.max() == 3);
  CHECK(master.context.report.staleness.mean() == 1.5);
}

TEST_CASE("held-out data is evaluated by several workers as by one") {
  Settings s = settings(Mode::kAveraging);
  s.evaluations = {"regression"};
  s.metric = "rmse";
  std::vector<double> scores;
  for (const int workers : {1, 3}) {
    Folder folder;
    std::optional<RunState> saved;
    Master master(s, Limits{}, folder, saved, 1, kExamples, 100);
    for (int i = 0; i < workers; ++i) master.join("w" + std::to_string(i));
    while (!master.over()) master.turn();
    REQUIRE(master.context.state.history.size() == 2);
    scores.push_back(master.context.state.history[0].metrics.at("rmse"));
  }
  double squares = 0;
  for (int i = 0; i < 25; ++i) squares += i * i;
  CHECK(scores[0] == Approx(std::sqrt(squares / 25)));
  CHECK(scores[0] == scores[1]);
}

TEST_CASE("a silent worker's late answer is stale, and it works again") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kAveraging), Limits{}, folder, saved, 1,
                kExamples);
  Worker& a = master.join("a");
  master.join("b");
  master.coordinator->tick(master.now);
  REQUIRE(a.tasks.size() == 1);
  const auto fence = a.tasks[0].fence;
  a.deaf = true;
  for (int i = 0; i < 70; ++i) master.turn();  // 7 s
  CHECK(master.context.report.lost == 1);
  CHECK(master.context.report.stale == 0);
  a.deaf = false;
  CHECK(a.tasks[0].fence == fence);
  master.turn();
  CHECK(master.context.report.stale == 1);
  CHECK(master.context.report.returned == 1);
  while (!master.over()) master.turn();
  check_exactly_once(folder, 2);
  CHECK(a.progress > 1);
}

TEST_CASE("a worker that beats without progress loses its lease") {
  Folder folder;
  std::optional<RunState> saved;
  Limits limits;
  limits.stuck_after = 20;
  limits.wait = 1e9;
  Master master(settings(Mode::kAveraging), limits, folder, saved, 1,
                kExamples);
  Worker& a = master.join("a");
  master.coordinator->tick(master.now);
  const Task task = a.tasks.at(0);
  a.tasks.clear();  // it spins
  for (int i = 0; i < 210; ++i) master.turn();
  CHECK(master.context.report.lost == 1);
  CHECK(a.tasks.empty());  // nothing more for it
  Worker& b = master.join("b");
  master.coordinator->tick(master.now);
  REQUIRE(b.tasks.size() == 1);
  CHECK(b.tasks[0].first == task.first);
  CHECK(b.tasks[0].fence > task.fence);
}

TEST_CASE("too few workers end the run after the wait") {
  Folder folder;
  std::optional<RunState> saved;
  Limits limits;
  limits.min_workers = 2;
  limits.wait = 60;
  Master master(settings(Mode::kSharing), limits, folder, saved, 1, kExamples);
  master.join("a");
  for (int i = 0; i < 59; ++i) master.turn(1);
  CHECK(master.said.size() >= 5);
  CHECK(master.said.back().starts_with("waiting: 1 of 2 workers (a), "));
  try {
    master.turn(1);
    FAIL("it waits for ever");
  } catch (const dl::Error& error) {
    CHECK(error.code() == dl::Code::kUnavailable);
  }
  CHECK(committed(folder).empty());
}

TEST_CASE("when all workers are gone the state is saved") {
  Folder folder;
  std::optional<RunState> saved;
  Limits limits;
  limits.wait = 30;
  Master master(settings(Mode::kSharing), limits, folder, saved, 1, kExamples);
  Worker& a = master.join("a");
  for (int i = 0; i < 20; ++i) master.turn();
  a.alive = false;
  for (int i = 0; i < 50 && !master.over(); ++i) master.turn(1);
  CHECK(master.coordinator->stopped());
  REQUIRE(saved);
  CHECK(saved->examples > 0);
  CHECK_FALSE(saved->finished);
}

TEST_CASE("a stop takes in what was begun, saves and ends") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    Folder folder;
    std::optional<RunState> saved;
    Settings s = settings(mode);
    {
      Master master(s, Limits{}, folder, saved, 1, kExamples);
      master.join("a");
      for (int i = 0; i < 4; ++i) master.turn();
      master.coordinator->stop("SIGTERM", master.now);
      for (int i = 0; i < 200 && !master.over(); ++i) master.turn();
      REQUIRE(master.coordinator->stopped());
      CHECK(master.now < 120);
      REQUIRE(saved);
      CHECK(saved->examples > 0);
      CHECK(saved->examples < kExamples);
    }
    Master again(s, Limits{}, folder, saved, 2, kExamples);
    again.join("a");
    while (!again.over()) again.turn();
    check_exactly_once(folder, 2);
  }
}

TEST_CASE("a worker that is frozen does not hold up a stop") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kAveraging), Limits{}, folder, saved, 1,
                kExamples);
  Worker& a = master.join("a");
  master.turn();
  a.deaf = true;
  master.coordinator->stop("SIGTERM", master.now);
  const double begin = master.now;
  while (!master.over()) master.turn();
  CHECK(master.now - begin < 26);
  REQUIRE(saved);
  CHECK(saved->committed.empty());
}

TEST_CASE("answers that are not finite stop the run after some") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    Folder folder;
    std::optional<RunState> saved;
    Master master(settings(mode), Limits{}, folder, saved, 1, kExamples);
    Worker& a = master.join("a");
    try {
      for (int i = 0; i < 200; ++i) {
        a.poison = true;
        master.turn();
      }
      FAIL("it goes on for ever");
    } catch (const dl::Error& error) {
      // In sharing it was a single mini-batch, whose data may be at fault.
      CHECK(error.code() == (mode == Mode::kAveraging ? dl::Code::kDiverged
                                                      : dl::Code::kConfig));
      CHECK_THAT(error.what(), Catch::Contains("finite"));
    }
    CHECK(all_finite(master.context.state.parameters));
    CHECK(committed(folder).empty());
  }
}

TEST_CASE("a worker whose answers are all rejected is put out, others go on") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    Folder folder;
    std::optional<RunState> saved;
    Settings s = settings(mode);
    s.epochs = 40;
    Master master(s, Limits{}, folder, saved, 1, kExamples);
    Worker& bad = master.join("bad");
    master.join("b");
    master.join("c");
    for (int turn = 0; turn < 5000 && !master.over(); ++turn) {
      bad.poison = true;
      master.turn();
    }
    CHECK(master.over());
    CHECK(bad.refused == 69);
    CHECK(master.context.report.rejected == ResultHandler::kMostRejections);
    check_exactly_once(folder, 40);
  }
}

TEST_CASE("answers that are rejected of all workers end the run") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kAveraging), Limits{}, folder, saved, 1,
                kExamples);
  for (const char* name : {"a", "b", "c", "d"}) master.join(name);
  const auto all_fail = [&] {
    for (int turn = 0; turn < 5000 && !master.over(); ++turn) {
      for (auto& [name, worker] : master.link.workers) worker.poison = true;
      master.turn();
    }
  };
  CHECK_THROWS_WITH(all_fail(), Catch::Contains("were rejected"));
}

TEST_CASE("a peer cannot end the run by calling itself several processes") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kAveraging), Limits{}, folder, saved, 1,
                kExamples);
  for (const char* name : {"x", "y", "z"}) {
    master.join(name);
    master.context.members.find(std::string(name))->key = "its only key";
  }
  master.join("good");
  for (int turn = 0; turn < 5000 && !master.over(); ++turn) {
    for (const char* name : {"x", "y", "z"})
      master.link.workers.at(name).poison = true;
    master.turn();
  }
  CHECK(master.over());
  check_exactly_once(folder, 2);
}

TEST_CASE("a second worker of a name is refused while the first one lives") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kSharing), Limits{}, folder, saved, 1,
                kExamples);
  master.join("a");
  Worker twin;
  twin.peer = "twin";
  twin.hello.name = "a";
  twin.hello.process = 2;
  twin.branch = std::make_shared<Branch>(master.link, "twin");
  master.link.workers["twin"] = twin;
  master.deliver(twin, twin.hello.to_message());
  CHECK(master.link.workers["twin"].refused == 76);
  // Once the first one's connection takes nothing, the name is free.
  master.link.workers["a"].alive = false;
  master.link.workers["twin"].refused = -1;
  master.deliver(twin, twin.hello.to_message());
  CHECK(master.link.workers["twin"].refused == -1);
  CHECK(master.link.workers["twin"].run == run_id(1));
}

TEST_CASE("who is not of this run is told to say hello again") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kSharing), Limits{}, folder, saved, 1,
                kExamples);
  Worker& a = master.join("a");
  std::vector<MessageType> sent;
  master.link.carry = [&](const std::string&, Worker&,
                          const Received& received) {
    sent.push_back(received.message.type);
  };
  a.run = run_id(9);
  master.deliver(a, Beat{}.to_message());
  REQUIRE(sent.size() == 1);
  CHECK(sent.back() == MessageType::kRejoin);
  // One that leaves wants no answer.
  master.deliver(a, Leave{"done"}.to_message());
  CHECK(sent.size() == 1);
  a.run = run_id(1);
  master.deliver(a, Leave{"done"}.to_message());
  master.deliver(a, Beat{}.to_message());
  REQUIRE(sent.size() == 2);
  CHECK(sent.back() == MessageType::kRejoin);
}

TEST_CASE("a connection is of one process") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kSharing), Limits{}, folder, saved, 1,
                kExamples);
  Worker& a = master.join("a");
  Hello other = a.hello;
  other.process += 1;
  other.name = "b";
  master.deliver(a, other.to_message());
  CHECK(a.refused == 76);
  CHECK(master.context.members.joined() == 1);
  for (int i = 0; i < 100; ++i) master.deliver(a, a.hello.to_message());
  CHECK(master.context.members.joined() < 10);
}

TEST_CASE("a worker that floods the master with Beats is put out") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kSharing), Limits{}, folder, saved, 1,
                kExamples);
  Worker& a = master.join("a");
  master.join("b");
  const Message beat = Beat().to_message();
  for (int i = 0; i < 20'000; ++i) master.deliver(a, beat);
  master.coordinator->tick(master.now);
  CHECK(master.context.members.workers().size() == 2);
  for (int i = 0; i < 20; ++i) master.deliver(a, beat);
  for (int i = 0; i < 3; ++i) master.turn();
  CHECK(a.refused == 69);
  REQUIRE(master.context.members.workers().size() == 1);
  CHECK(master.context.members.workers()[0]->hello.name == "b");
}

TEST_CASE("a connection that was ended is a loss, though its worker is back") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kSharing), Limits{}, folder, saved, 1,
                kExamples);
  Worker again = master.join("a");
  again.peer = "a, on another connection";
  master.link.ended = {{"a", "its key was removed"}};
  master.join_again(again);
  CHECK(master.context.report.lost == 1);
  CHECK(count_events(folder, "lost") == 1);
  CHECK(count_events(folder, "leave") == 0);
  CHECK(master.context.members.find("a") == nullptr);
  CHECK(master.context.members.present().size() == 1);
}

TEST_CASE("a worker whose connection ends is lost a second later") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kSharing), Limits{}, folder, saved, 1,
                kExamples);
  master.join("a");
  master.link.ended = {{"a", ""}};
  master.coordinator->tick(master.now);
  CHECK(master.context.report.lost == 0);
  master.coordinator->tick(master.now += 2);
  CHECK(master.context.report.lost == 1);
  CHECK(master.context.members.present().empty());
}

TEST_CASE("a worker whose work is its own may connect anew for longer") {
  Folder folder;
  std::optional<RunState> saved;
  Settings own = settings(Mode::kSharing);
  own.sharing.staleness = 0;
  Master master(own, Limits{}, folder, saved, 1, kExamples);
  master.join("a");
  master.link.ended = {{"a", ""}};
  master.coordinator->tick(master.now);
  master.coordinator->tick(master.now += 2);
  CHECK(master.context.report.lost == 0);
}

TEST_CASE("messages of another run are ignored") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kSharing), Limits{}, folder, saved, 1,
                kExamples);
  Worker& a = master.join("a");
  a.run = run_id(9);
  for (int i = 0; i < 10; ++i) master.turn();
  CHECK_FALSE(a.pending.empty());
  CHECK(master.context.report.batches == 0);
}

TEST_CASE("patience ends a run early") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kAveraging);
  s.epochs = 50;
  s.patience = 2;  // the simulated loss never changes
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  master.join("a");
  while (!master.over()) master.turn();
  CHECK(master.context.state.history.size() == 3);
  CHECK(master.context.state.reason == "no better loss for 2 epochs");
}

TEST_CASE("a run ends at its time limit") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    Folder folder;
    std::optional<RunState> saved;
    Settings s = settings(mode);
    s.epochs = 1000;
    Limits limits;
    limits.max_time = 20;
    Master master(s, limits, folder, saved, 1, kExamples);
    master.join("a");
    while (!master.over()) master.turn();
    CHECK(master.coordinator->finished());
    CHECK(master.now < 130);
    CHECK(master.context.state.reason == "--max-time is over");
  }
}

TEST_CASE("a run goes on by its messages alone, not by the clock") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    INFO(kModeNames.of(mode));
    Folder folder;
    std::optional<RunState> saved;
    Settings s = settings(mode);
    s.epochs = 5;
    Master master(s, Limits{}, folder, saved, 1, kExamples);
    Worker& worker = master.join("a");
    master.coordinator->tick(master.now);
    while (!master.over()) {
      worker.branch->step(worker, 1000);
      worker.work(mode, master.order);
      REQUIRE_FALSE(worker.out.empty());  // else all would wait for the clock
      master.flush(worker);
      master.coordinator->tick(master.now);
    }
    CHECK(master.context.state.epoch == 5);
  }
}

TEST_CASE("workers of a synchronous run that compute differently are told of") {
  const auto complaints = [](const Settings& s) {
    Folder folder;
    std::optional<RunState> saved;
    Master master(s, Limits{}, folder, saved, 1, kExamples);
    for (const char* instructions : {"avx512", "avx512", "", "avx2"}) {
      master.link.instructions = instructions;
      master.join("w" + std::to_string(master.link.workers.size()));
    }
    return std::ranges::count_if(master.said, [](const std::string& line) {
      return line.find("computes with avx2, w0 (worker 1) with avx512") !=
             std::string::npos;
    });
  };
  CHECK(complaints(settings(Mode::kAveraging)) == 1);
  Settings sharing = settings(Mode::kSharing);
  CHECK(complaints(sharing) == 0);
  sharing.sharing.staleness = 0;
  CHECK(complaints(sharing) == 1);
  sharing.deterministic = true;
  CHECK(complaints(sharing) == 0);
}

TEST_CASE("workers of a synchronous run with other threads are told of") {
  const auto complaints = [](const Settings& s) {
    Folder folder;
    std::optional<RunState> saved;
    Master master(s, Limits{}, folder, saved, 1, kExamples);
    master.link.instructions = "avx2";
    for (const int threads : {1, 1, 4}) {
      master.link.threads = threads;
      master.join("w" + std::to_string(master.link.workers.size()));
    }
    return std::ranges::count_if(master.said, [](const std::string& line) {
      return line.find("computes with 4 threads, w0 (worker 1) with 1:") !=
             std::string::npos;
    });
  };
  CHECK(complaints(settings(Mode::kAveraging)) == 1);
  CHECK(complaints(settings(Mode::kSharing)) == 0);
}

TEST_CASE("epochs of less than a second share a checkpoint") {
  for (const double checkpoint_every : {300.0, 0.0}) {
    for (const double seconds : {0.0001, 0.1}) {
      Folder folder;
      std::optional<RunState> saved;
      Limits limits;
      limits.checkpoint_every = checkpoint_every;
      Settings s = settings(Mode::kSharing);
      s.epochs = 4;
      Master master(s, limits, folder, saved, 1, kExamples);
      master.join("a");
      while (!master.over()) master.turn(seconds);
      const bool each = checkpoint_every == 0 || seconds > 0.01;
      INFO(checkpoint_every << ", " << master.now);
      CHECK(master.context.report.checkpoints == (each ? 4U : 1U));
      CHECK(saved->finished);
    }
  }
}

TEST_CASE("checkpoints that cannot be written are missed, then end the run") {
  Folder folder;
  std::optional<RunState> saved;
  Limits limits;
  limits.checkpoint_batches = 5;
  if (GENERATE(false, true)) limits.end_aside_from = 1;
  Master master(settings(Mode::kSharing), limits, folder, saved, 1, kExamples);
  int tries = 0;
  Hooks hooks;
  hooks.welcome = Master::welcome;
  hooks.save = [&](bool aside) {
    ++tries;
    return std::make_unique<Saving>(aside, []() -> std::string {
      throw dl::Error{dl::Code::kIo,
                      "cannot write 'c': No space left on device"};
    });
  };
  master.coordinator.emplace(master.context, hooks, master.now, master.now);
  master.join("a");
  try {
    while (!master.over()) master.turn();
    FAIL("it goes on");
  } catch (const dl::Error& error) {
    CHECK(error.code() == dl::Code::kIo);
    CHECK_THAT(error.what(), Catch::Contains("No space left"));
  }
  CHECK(tries == 3);
}

}  // namespace dl::cluster::coordinator_test
