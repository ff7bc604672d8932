#include "libcore/cluster/master/members/shutdown.h"

#include <catch2/catch.hpp>

#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::farewell_test {

using namespace simulation;

namespace {

// Two workers, a and b, in the middle of a run.
struct Run {
  Folder folder;
  std::optional<RunState> saved;
  Master master{
      settings(Mode::kAveraging), Limits{}, folder, saved, 1, kExamples};
  Worker& a = master.join("a");
  Worker& b = master.join("b");

  Run() { master.turn(); }
  void connection_ends(const Worker& worker) {
    master.link.ended.push_back({worker.peer, ""});
  }
  static RouterSocket::Incoming says(const Worker& worker,
                                     const Message& message) {
    return {worker.peer, {Envelope{}, message}};
  }
};

}  // namespace

TEST_CASE("a run ends when everybody has left") {
  Run run;
  Shutdown farewell(run.master.context, 0, "", Shutdown::everybody);
  CHECK(run.a.stop == 0);
  CHECK(run.b.stop == 0);
  farewell.take(run.says(run.a, Leave{"it ends"}.to_message()));
  CHECK_FALSE(farewell.all_left());
  farewell.take(run.says(run.b, Leave{"it ends"}.to_message()));
  CHECK(farewell.all_left());
  CHECK(run.master.context.report.lost == 0);
}

TEST_CASE("the end of a run waits while bytes move to who has not left") {
  Run run;
  Shutdown farewell(run.master.context, 0, "", Shutdown::everybody);
  CHECK_FALSE(farewell.flowed_since(200));
  Member* b = run.master.context.members.find(run.b.peer);
  REQUIRE(b);
  b->flowed = 201;
  CHECK(farewell.flowed_since(200));
  CHECK_FALSE(farewell.flowed_since(201));
  farewell.take(run.says(run.b, Leave{"it ends"}.to_message()));
  CHECK_FALSE(farewell.flowed_since(200));
}

TEST_CASE("whose connection ends with the run has a second to come back") {
  Run run;
  Shutdown farewell(run.master.context, 0, "", Shutdown::everybody);
  farewell.take(run.says(run.b, Leave{"it ends"}.to_message()));
  run.connection_ends(run.a);
  farewell.tick(200);
  farewell.tick(200 + kReturn);
  CHECK_FALSE(farewell.all_left());

  SECTION("it does not, and is lost") {
    farewell.tick(200.1 + kReturn);
    CHECK(farewell.all_left());
    CHECK(run.master.context.report.lost == 1);
    CHECK(run.master.said.back() == "a (worker 1) lost: its connection ended");
    farewell.end();
    CHECK(run.master.context.report.lost == 1);
  }
  SECTION("it does, and hears of the end on its new connection") {
    Worker& again = run.master.link.workers["a2"];
    again = run.a;
    again.peer = "a2";
    again.stop = -1;
    farewell.take(run.says(again, again.hello.to_message()));
    CHECK(again.stop == 0);
    CHECK(farewell.all_left());
    farewell.tick(210);
    CHECK(run.master.context.report.lost == 0);
  }
}

TEST_CASE("who is about to join again is waited for, strangers are not") {
  Run run;
  Hello again = run.a.hello;
  run.master.coordinator->handle({"a2", {Envelope{}, again.to_message()}},
                                 run.master.now);
  Hello stranger = again;
  stranger.process = 99;
  stranger.name = "c";
  run.master.coordinator->handle({"c", {Envelope{}, stranger.to_message()}},
                                 run.master.now);
  CHECK(run.master.context.report.joined == 4);
  CHECK(run.master.context.report.left == 1);  // the first a
  Shutdown farewell(run.master.context, 0, "", Shutdown::everybody);
  farewell.take(run.says(run.b, Leave{"it ends"}.to_message()));
  CHECK_FALSE(farewell.all_left());
  farewell.take({"a2", {Envelope{}, Leave{"it ends"}.to_message()}});
  CHECK(farewell.all_left());
}

}  // namespace dl::cluster::farewell_test
