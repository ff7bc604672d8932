// Records that a worker cannot use: the master looks at them itself.

#include "tests/unit/cluster/whole_run.h"

using namespace simulation;
using dl::Code;
using dl::Error;

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
