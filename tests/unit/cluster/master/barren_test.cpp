// A worker that says that it works and gives no answer.

#include "libcore/cluster/master/members/stragglers.h"
#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::barren_test {

using namespace simulation;

namespace {

constexpr int kNever = 1'000'000;

Limits limits() {
  Limits limits;
  limits.stuck_after = 10;
  return limits;
}

Settings long_run(Mode mode) {
  Settings s = settings(mode);
  s.epochs = 40;
  s.averaging.workers = mode == Mode::kAveraging ? 3 : 0;
  return s;
}

bool has_said(const Master& master, const std::string& text) {
  return std::ranges::any_of(master.said, [&](const std::string& line) {
    return line.find(text) != line.npos;
  });
}

double seconds_until_over(Master& master) {
  const double began = master.now;
  for (int turn = 0; turn < 20000 && !master.over(); ++turn) master.turn();
  REQUIRE(master.coordinator->finished());
  return master.now - began;
}

}  // namespace

TEST_CASE("a worker that is only said to work loses what it was leased") {
  for (const Mode mode : {Mode::kSharing, Mode::kAveraging}) {
    INFO(static_cast<int>(mode));
    Folder folder;
    std::optional<RunState> saved;
    const Settings s = long_run(mode);
    Master master(s, limits(), folder, saved, 1, kExamples);
    master.join("a");
    Worker& liar = master.join("liar");
    master.join("b");
    for (int turn = 0; turn < 50; ++turn) master.turn();
    liar.period = kNever;
    liar.tells = 40;
    // Its leases would have lasted for hundreds of seconds.
    CHECK(seconds_until_over(master) < 400);
    check_exactly_once(folder, s.epochs);
    CHECK(has_said(master, "liar (worker 2) lost: it says that it works and"));
    CHECK(liar.told_to_rejoin);
    CHECK(liar.refused == -1);
    CHECK(count_events(folder, "lost") == 1);
  }
}

TEST_CASE("a worker that is barren time and again is put out") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = long_run(Mode::kSharing);
  s.epochs = 10000;
  Master master(s, limits(), folder, saved, 1, kExamples);
  master.join("a");
  master.join("b");
  for (int turn = 0; turn < 50; ++turn) master.turn();
  Worker* liar = &master.join("liar");
  std::vector<double> times;  // at which it was found out
  while (liar->refused < 0 && master.now < 1000) {
    liar->period = kNever;
    liar->tells = 90;  // its leases suffice for that
    liar->told_to_rejoin = false;
    while (!liar->told_to_rejoin && liar->refused < 0 && master.now < 1000)
      master.turn();
    times.push_back(master.now);
    if (liar->refused < 0) liar = &master.join_again(*liar);
  }
  CHECK(liar->refused == 69);
  REQUIRE(times.size() == kMostBarren);
  CHECK(times[3] - times[2] > 3 * (times[1] - times[0]));
  CHECK(has_said(master, "it was so 4 times"));
}

TEST_CASE(
    "a slow worker is left its work if nobody can tell or it is not too slow") {
  for (const Mode mode : {Mode::kSharing, Mode::kAveraging})
    for (const bool alone : {false, true}) {
      INFO(static_cast<int>(mode) << (alone ? ", alone" : ""));
      Folder folder;
      std::optional<RunState> saved;
      Settings s = long_run(mode);
      s.epochs = 1;
      if (mode == Mode::kAveraging) s.averaging.workers = alone ? 1 : 2;
      Limits patient;
      patient.stuck_after = 15;
      Master master(s, patient, folder, saved, 1, kExamples);
      Worker& slow = master.join("slow");
      if (!alone) master.join("a");
      slow.period = 140;
      if (alone && mode == Mode::kAveraging) {  // a word for each mini-batch
        slow.period = 360;
        slow.tells = 120;
      }
      for (int turn = 0; turn < 40000 && !master.over(); ++turn) master.turn();
      REQUIRE(master.coordinator->finished());
      CHECK(count_events(folder, "lost") == 0);
      check_exactly_once(folder, 1);
    }
}

TEST_CASE("an answer of a barren worker that comes after all is stale") {
  for (const Mode mode : {Mode::kSharing, Mode::kAveraging}) {
    INFO(static_cast<int>(mode));
    Folder folder;
    std::optional<RunState> saved;
    Settings s = long_run(mode);
    s.averaging.workers = 0;
    Master master(s, limits(), folder, saved, 1, kExamples);
    master.join("a");
    master.join("b");
    Worker& slow = master.join("slow");
    for (int turn = 0; turn < 50; ++turn) master.turn();
    slow.period = kNever;
    slow.tells = 40;
    while (!slow.told_to_rejoin && !master.over()) master.turn();
    REQUIRE(slow.told_to_rejoin);
    slow.period = 1;
    while (count_events(folder, "stale") == 0 && !master.over()) master.turn();
    CHECK(count_events(folder, "stale") > 0);
    master.join_again(slow);  // and is as good as any
    const auto before = master.context.report.batches_of["slow"];
    seconds_until_over(master);
    CHECK(master.context.report.batches_of["slow"] > before);
    check_exactly_once(folder, s.epochs);
  }
}

TEST_CASE("time in which the master stood still is no worker's") {
  Member member;
  note_begun(member, 10);
  CHECK(Membership::without_answer(member, 30) == 20);
  member.flowed = 25;
  CHECK(Membership::without_answer(member, 30) == 5);
  member.flowed = 1e6;  // an hour at most
  CHECK(Membership::without_answer(member, 1e6) == 1e6 - 10 - kLongestTransfer);
  CHECK(longest_without_answer(member, 0.1, 4, 60) == 60);
  CHECK(longest_without_answer(member, 5, 4, 60) == 400);
  member.times_barren = 2;
  CHECK(longest_without_answer(member, 5, 4, 60) == 1600);
}

}  // namespace dl::cluster::barren_test
