// Tests of libcore/plot/live/live_runs.h.

#include "libcore/plot/live/live_runs.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "libcore/base/error.h"
#include "tests/unit/scratch.h"

namespace dl::plot::live_runs_test {
namespace {

struct TurnedClock : Clock {
  double now = 1000;
  double seconds() override { return now; }
};

std::string epoch_line(int epoch) {
  return dump_json({{"event", "epoch"},
                    {"epoch", epoch},
                    {"loss", 2.5},
                    {"mono", 10 + epoch},
                    {"incarnation", 1}}) +
         "\n";
}

void append(const std::string& run, const std::string& text) {
  std::filesystem::create_directories(run);
  std::ofstream(run + "/events.jsonl", std::ios::app) << text;
}

struct BusyClock : TurnedClock {
  double seconds() override { return now += 0.1; }  // since it was asked before
};

TEST_CASE("an epoch is shown within a second on a busy machine as well") {
  const Scratch folder;
  const std::string run = folder / "a.run";
  append(run, epoch_line(0));
  BusyClock clock;
  TurnedClock work;
  LiveRuns runs({run}, clock, work);
  std::string state = *runs.state("events");
  runs.answer("");
  for (int epoch = 1; epoch < 4; ++epoch) {
    append(run, epoch_line(epoch));
    clock.now += 1;
    CHECK(*runs.state("events") != state);
    runs.answer("");
    state = *runs.state("events");
  }
}

TEST_CASE("the state of a run is another after an epoch") {
  const Scratch folder;
  const std::string run = folder / "a.run";
  append(run, epoch_line(0));
  TurnedClock clock;
  LiveRuns runs({run}, clock);
  const auto first = runs.state("events");
  REQUIRE(first);
  const std::string page = runs.answer("").body;
  CHECK(page.find("data-state=\"" + *first + "\"") != std::string::npos);
  clock.now += 10;
  CHECK(runs.state("events") == first);
  append(run, epoch_line(1));
  clock.now += 0.3;
  const auto second = runs.state("events");
  CHECK(second != first);
  CHECK(runs.answer("").body.find(*second) != std::string::npos);
  // One within half a second waits for the rest of it.
  append(run, epoch_line(2));
  clock.now += 0.3;
  CHECK(runs.state("events") == second);
  clock.now += 0.3;
  CHECK(runs.state("events") != second);
  CHECK_FALSE(runs.state("events?name=b"));
  CHECK(runs.answer("run?name=b").status == 404);
  CHECK(runs.answer("../a.run/events.jsonl").status == 404);
}

TEST_CASE("a folder lists its runs, and those that appear later") {
  const Scratch folder;
  append(folder / "a.safetensors.run", epoch_line(0));
  append(folder / "<b>.run", epoch_line(0));
  std::filesystem::create_directories(folder / "no-run-here");
  TurnedClock clock;
  LiveRuns runs({folder.path()}, clock);
  const auto first = runs.state("events");
  const std::string list = runs.answer("").body;
  CHECK(list.find("run?name=a\"") != std::string::npos);
  CHECK(list.find("run?name=%3cb%3e\"") != std::string::npos);
  CHECK(list.find("<b>") == std::string::npos);
  CHECK(list.find("no-run-here") == std::string::npos);
  CHECK(runs.answer("run?name=%3cb%3e").status == 200);
  CHECK(runs.answer("run?name=a&name=%3cb%3e").status == 200);
  append(folder / "c.run", epoch_line(0));
  clock.now += 3;
  CHECK(runs.state("events") != first);
  CHECK(runs.answer("run?name=c").status == 200);
}

TEST_CASE("a run that is removed and begins anew is read anew") {
  const Scratch folder;
  const std::string run = folder / "a.run";
  append(run, epoch_line(0) + epoch_line(1) + epoch_line(2));
  TurnedClock clock;
  LiveRuns runs({run}, clock);
  const auto first = runs.state("events");
  std::filesystem::remove_all(run);
  clock.now += 3;
  CHECK(runs.state("events") == first);
  append(run, epoch_line(0));
  clock.now += 3;
  CHECK(runs.state("events") != first);
  CHECK(runs.answer("").body.find("<dt>Epochs</dt><dd>1</dd>") !=
        std::string::npos);
}

TEST_CASE("what is no run cannot be served") {
  const Scratch folder;
  CHECK_THROWS_AS(LiveRuns({folder / "nothing"}), Error);
}

}  // namespace
}  // namespace dl::plot::live_runs_test
