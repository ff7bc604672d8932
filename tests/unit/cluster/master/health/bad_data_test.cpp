// Records that a worker cannot use: the master looks at them itself.

#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::bad_data_test {

using namespace simulation;

namespace {

// Its next answer says that a record of the mini-batch is of no use.
void complain(Master& master, const Worker& worker) {
  REQUIRE(!worker.tasks.empty());
  const Task& task = worker.tasks.front();
  const Fault fault{
      task.lease, task.fence, task.first, "'a.dls', record 3: damaged",
      65,         0,          3};
  master.deliver(worker, fault.to_message());
}

}  // namespace

TEST_CASE("a record that is damaged here too ends the run, and it is saved") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    Folder folder;
    std::optional<RunState> saved;
    Master master(settings(mode), Limits{}, folder, saved, 1, kExamples);
    std::vector<Fetch> looked_at;
    master.context.examine = [&](const Fetch& fetch) {
      looked_at.push_back(fetch);
      throw Error{Code::kData, "'a.dls', record 3: checksum differs"};
    };
    const Worker& worker = master.join("a");
    for (int turn = 0; turn < 20; ++turn) master.turn();
    saved.reset();
    complain(master, worker);
    try {
      master.turn();
      FAIL("it goes on");
    } catch (const Error& error) {
      CHECK(error.code() == Code::kData);
      CHECK_THAT(error.what(),
                 Catch::StartsWith("'a.dls', record 3: checksum differs"));
    }
    REQUIRE(looked_at.size() == 1);
    CHECK(looked_at[0].record == 3);
    CHECK(saved.has_value());
  }
}

TEST_CASE("what is odd about a mini-batch that came back is looked for") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing})
    for (const int skipped : {0, 1}) {
      Folder folder;
      std::optional<RunState> saved;
      Limits limits;
      limits.skip_bad_shards = skipped;
      Master master(settings(mode), limits, folder, saved, 1, kExamples);
      master.context.training = {{{100}, {103}}};
      master.order = dl::data::Epoch(master.context.training, 4, 1, 0, true);
      const Worker& worker = master.join("a");
      for (int turn = 0; turn < 20; ++turn) master.turn();
      REQUIRE(!worker.tasks.empty());
      const Task& task = worker.tasks.front();
      std::vector<std::uint32_t> bad;
      master.context.odd_values = [&](const dl::data::ExampleRun& piece) {
        bad.push_back(piece.shard);
        return std::string("'b.dls', record 0: odd");
      };
      const Fault fault{task.lease, task.fence, task.first, "the loss",
                        0,          0,          0};
      master.deliver(worker, fault.to_message());
      if (skipped == 0) {
        CHECK_THROWS_WITH(master.turn(),
                          Catch::StartsWith("'b.dls', record 0: odd; with "
                                            "--skip-bad-shards 1"));
      } else {
        CHECK_NOTHROW(master.turn());
        REQUIRE(master.context.state.bad_shards.size() == 1);
        CHECK(std::vector{master.context.state.bad_shards[0].shard} == bad);
      }
    }
}

TEST_CASE("a worker that cannot use what is all right here is put out") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    Folder folder;
    std::optional<RunState> saved;
    Master master(settings(mode), Limits{}, folder, saved, 1, kExamples);
    master.context.examine = [](const Fetch&) {};
    const Worker& unfit = master.join("unfit");
    master.join("b");
    while (unfit.tasks.empty()) master.turn();
    complain(master, unfit);
    for (int turn = 0; turn < 5000 && !master.over(); ++turn) master.turn();
    CHECK(unfit.refused == 69);
    REQUIRE(master.coordinator->finished());
    check_exactly_once(folder, 2);
  }
}

TEST_CASE("storage that fails the master is told as that") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kSharing), Limits{}, folder, saved, 1,
                kExamples);
  master.context.examine = [](const Fetch&) {
    throw Error{Code::kIo, "cannot read 'a.dls'"};
  };
  const Worker& worker = master.join("a");
  const auto complain_for_ever = [&] {
    for (int turn = 0; turn < 100; ++turn) {
      master.turn();
      if (!worker.tasks.empty()) complain(master, worker);
    }
  };
  try {
    complain_for_ever();
    FAIL("it goes on");
  } catch (const Error& error) {
    CHECK(error.code() == Code::kIo);
    CHECK_THAT(error.what(), Catch::Contains("look at the storage"));
  }
}

namespace {

// A new worker gets a lease, says before which of its mini-batches it stands
// (if it is to be careful; perhaps of an older lease), and its process is lost.
// Returns its Task.
Task lose_one(Master& master, int number, std::int64_t at,
              std::uint64_t older = 0) {
  const std::string name = "x" + std::to_string(number);
  Worker& worker = master.join(name);
  worker.in_flight = 0;
  for (int turn = 0; turn < 10 && worker.tasks.empty(); ++turn)
    master.coordinator->tick(master.now += 0.1);
  REQUIRE_FALSE(worker.tasks.empty());
  const Task task = worker.tasks.front();
  if (task.careful) {
    Beat beat;
    beat.lease = task.lease - older;
    beat.batch = task.first + at % task.count;
    master.deliver(worker, beat.to_message());
  }
  worker.alive = false;
  master.coordinator->lost_process(name, worker.hello.pid, "it was killed",
                                   master.now);
  return task;
}

}  // namespace

TEST_CASE("three workers lost over one mini-batch make it bad") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    Folder folder;
    std::optional<RunState> saved;
    Master master(settings(mode), Limits{}, folder, saved, 1, kExamples);
    CHECK_FALSE(lose_one(master, 0, 0).careful);
    for (int n = 1; n <= 3; ++n) CHECK(lose_one(master, n, 1).careful);
    CHECK_THROWS_WITH(
        master.turn(),
        Catch::Contains("mini-batch 1 of epoch 1 was lost with 3 workers") &&
            Catch::Contains("it has examples of record 0 of shard 0"));
    CHECK(saved.has_value());
  }
}

// However it is called, and on whatever host it is said to be.
TEST_CASE("a host whose workers all die does not end the run of others") {
  Settings owned = settings(Mode::kAveraging);
  owned.averaging.delta = dl::exchange::DeltaFormat::parse("sparse:0.1:2");
  Settings alone = owned;  // one slot, which the host may have
  alone.averaging.workers = 1;
  int variant = 0;
  for (const Settings& s :
       {settings(Mode::kAveraging), settings(Mode::kSharing),
        settings(Mode::kSync), owned, alone}) {
    ++variant;
    for (const bool same_name : {true, false})
      for (const bool own_host : {true, false}) {
        INFO(variant << same_name << own_host);
        Folder folder;
        std::optional<RunState> saved;
        Master master(s, Limits{}, folder, saved, 1, kExamples);
        const auto live = [&](int life) {
          const std::string name =
              same_name ? "bad" : "bad-" + std::to_string(life);
          Worker& bad = master.join(name, "bad");
          for (int turn = 0; turn < 3 && bad.tasks.empty(); ++turn)
            master.turn();
          bad.alive = false;
          if (!bad.tasks.empty() && bad.tasks.front().careful) {
            Beat beat;
            beat.lease = bad.tasks.front().lease;
            beat.batch = bad.tasks.front().first;
            master.deliver(bad, beat.to_message());
          }
          master.coordinator->lost_process(name, bad.hello.pid, "it was killed",
                                           master.now);
        };
        live(0);  // before the others: it owns slots
        for (const char* good : {"good", "sound"})
          master.join(good, own_host ? "" : "bad");
        for (int life = 1; life < 60 && !master.over(); ++life) live(life);
        for (int turn = 0; turn < 5000 && !master.over(); ++turn) master.turn();
        REQUIRE(master.coordinator->finished());
        check_exactly_once(folder, 2);
      }
  }
}

TEST_CASE("what a worker did under an older lease says nothing of its loss") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    Folder folder;
    std::optional<RunState> saved;
    Master master(settings(mode), Limits{}, folder, saved, 1, kExamples);
    lose_one(master, 0, 0);
    for (int n = 1; n <= 9; ++n) CHECK(lose_one(master, n, 1, 1).careful);
    CHECK_NOTHROW(master.turn());
  }
}

TEST_CASE("workers lost over this and that mini-batch do not make it bad") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    Folder folder;
    std::optional<RunState> saved;
    Master master(settings(mode), Limits{}, folder, saved, 1, kExamples);
    for (int n = 0; n < 9; ++n) lose_one(master, n, n);
    master.join("good");
    for (int turn = 0; turn < 5000 && !master.over(); ++turn) master.turn();
    REQUIRE(master.coordinator->finished());
    check_exactly_once(folder, 2);
  }
}

TEST_CASE("a process that comes back has not died of a mini-batch") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kAveraging), Limits{}, folder, saved, 1,
                kExamples);
  std::vector<std::string> names;
  for (int n = 0; n < 12; ++n) {
    lose_one(master, n, 1);
    // As it was: its connection had been lost, no more.
    master.deliver(
        master.link.workers["x" + std::to_string(n)],
        master.link.workers["x" + std::to_string(n)].hello.to_message());
    master.coordinator->lost_process("x" + std::to_string(n), 0, "", 0);
  }
  CHECK_NOTHROW(master.turn());
}

TEST_CASE("a shard that goes bad is left out, and the run goes on without it") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    Folder folder;
    std::optional<RunState> saved;
    Limits limits;
    limits.skip_bad_shards = 1;
    Settings s = settings(mode);
    Master master(s, limits, folder, saved, 1, kExamples);
    master.context.training = {{{100}, {103}}};
    master.order =
        dl::data::Epoch(master.context.training, s.batch, s.seed, 0, true);
    master.context.examine = [](const Fetch&) {
      throw Error{Code::kData, "'b.dls', record 0: checksum differs"};
    };
    Worker& worker = master.join("a");
    while (worker.tasks.empty()) master.turn();
    const Task task = worker.tasks.front();
    std::int64_t batch = -1;
    for (std::int64_t i = task.first; i < task.first + task.count; ++i)
      for (const auto& piece : master.order.pieces(i))
        if (piece.shard == 1 && batch < 0) batch = i;
    if (batch < 0) batch = task.first;
    Fault fault{task.lease, task.fence, batch, "damaged", 65, 1, 0};
    worker.tasks.clear();
    master.deliver(worker, fault.to_message());
    CHECK_NOTHROW(master.turn());
    const RunState& state = master.context.state;
    REQUIRE(state.bad_shards.size() == 1);
    CHECK(state.bad_shards[0].shard == 1);
    CHECK(state.bad_batches == std::vector<std::int64_t>{batch});
    REQUIRE(saved.has_value());
    CHECK(saved->bad_shards == state.bad_shards);
    RunState copy;
    const Json json = state.to_json();
    copy.restore(dl::JsonView(json, Code::kData));
    CHECK(copy.bad_shards == state.bad_shards);
    CHECK(copy.bad_batches == state.bad_batches);
  }
}

}  // namespace dl::cluster::bad_data_test
