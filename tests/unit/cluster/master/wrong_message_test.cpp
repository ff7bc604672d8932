// Messages that no worker should send change nothing and put their sender out;
// those that come late are passed over.

#include <catch2/catch.hpp>

#include "libcore/cluster/protocol/probe.h"
#include "libcore/io/digest.h"
#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::wrong_message_test {

using namespace simulation;

namespace {

struct Wrong {
  std::string what;
  Message message;
};

template <typename T>
Wrong wrong(const std::string& what, const T& message) {
  return {what, message.to_message()};
}

bool same(const RunState& a, const RunState& b) {
  return a.parameters == b.parameters && a.statistics == b.statistics &&
         a.updater_state == b.updater_state && a.version == b.version &&
         a.examples == b.examples && a.loss_sum == b.loss_sum &&
         a.threshold == b.threshold;
}

// Each is rejected and leaves no trace; the run ends as if they never came.
void check_refused(Master& master, Worker& worker,
                   const std::vector<Wrong>& messages) {
  for (const Wrong& each : messages) {
    INFO(each.what);
    Member* member = master.context.members.find(worker.peer);
    REQUIRE(member);
    member->rejections = member->violations = 0;
    const RunState before = master.context.state;
    const std::uint64_t rejected = master.context.report.rejected;
    master.deliver(worker, each.message);
    CHECK(master.context.report.rejected == rejected + 1);
    CHECK_FALSE(member->in_step);
    CHECK(member->violations == 1);
    CHECK(same(master.context.state, before));
    for (int turn = 0; turn < 8 || worker.tasks.empty(); ++turn) {
      REQUIRE(turn < 100);
      master.turn();
    }
  }
}

// For every mode.
std::vector<Wrong> always_wrong() {
  Ready second;
  Beat ahead;
  ahead.feed = 1'000'000;
  TaskDone unknown;
  unknown.lease = 1'000'000;
  Fault fault;
  fault.lease = 1'000'000;
  return {wrong("a second Ready", second),
          wrong("a feed that is ahead", ahead),
          wrong("a record of no shard", Fetch{false, 7, 0}),
          wrong("a record that is not there", Fetch{false, 0, 7}),
          wrong("held-out data", Fetch{true, 0, 0}),
          wrong("nobody told it to listen", Listening{"tcp://a:1"}),
          wrong("it has no parent", Fed{1, 0, 0, ""}),
          wrong("a lease of nobody, done", unknown),
          wrong("a lease of nobody, faulty", fault),
          wrong("a measurement", Probed{1, 1, 1, 1, 1, 1, 1, 1, 1, {}, {}, {}}),
          wrong("what a master sends", Stop{}),
          wrong("what a worker sends another", Attach{})};
}

}  // namespace

TEST_CASE("messages out of place are refused in sharing") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kSharing);
  s.epochs = 40;
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  Worker& rogue = master.join("rogue");
  master.join("b");
  for (int i = 0; i < 3; ++i) master.turn();
  std::vector<Wrong> messages = always_wrong();
  messages.push_back(wrong("a Result", Result{}));
  messages.push_back(wrong("a sum", Reduced{}));
  messages.push_back(wrong("a slice", Slice{1, 1, 0, {1}}));
  check_refused(master, rogue, messages);

  // Messages for the task that it has.
  const auto task = [&] {
    REQUIRE_FALSE(rogue.tasks.empty());
    return rogue.tasks.front();
  };
  TaskDone done;
  done.lease = task().lease;
  done.fence = task().fence;
  done.examples = master.order.examples(task().first, task().count);
  done.statistics = {1, 2};
  check_refused(master, rogue, {wrong("statistics of no layer", done)});
  done.lease = task().lease;
  done.fence = task().fence;
  done.examples = 1;
  done.statistics.clear();
  check_refused(master, rogue, {wrong("other examples", done)});
  Fault fault;
  fault.lease = task().lease;
  fault.fence = task().fence;
  fault.batch = task().first + task().count;
  check_refused(master, rogue, {wrong("a mini-batch of another", fault)});
  while (!master.over()) master.turn();
  check_exactly_once(folder, 40);
}

TEST_CASE("a Digest that nobody asked for changes nothing") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kSharing);
  s.epochs = 40;
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  Worker& rogue = master.join("rogue");
  master.join("b");
  master.turn();
  Digest lie;
  lie.updater_state = {7};
  check_refused(master, rogue, {wrong("before any check", lie)});
  // It has answered the check of this epoch already.
  while (master.context.state.epoch < 1) master.turn();
  check_refused(master, rogue, {wrong("a second answer", lie)});
  while (!master.over()) master.turn();
  CHECK(master.context.state.updater_state == std::vector<float>{1});
}

TEST_CASE("a Digest has the vectors that were asked for") {
  for (const bool asked : {true, false}) {
    Folder folder;
    std::optional<RunState> saved;
    Settings s = settings(Mode::kSharing);
    s.sharing.agree_every = 10;
    Master master(s, Limits{}, folder, saved, 1, kExamples);
    Worker& a = master.join("a");
    master.join("b");
    // A check is under way, and its first answer is this one.
    while (master.context.checks == 0) {
      master.now += 0.1;
      for (auto& [name, worker] : master.link.workers) {
        if (master.context.checks > 0) break;
        worker.work(s.mode, master.order);
        while (!worker.out.empty() && master.context.checks == 0) {
          const Message message = worker.out.front();
          worker.out.erase(worker.out.begin());
          master.deliver(worker, message);
        }
      }
      if (master.context.checks == 0) master.coordinator->tick(master.now);
    }
    Digest lie;
    lie.sequence = master.context.state.version;
    lie.digest = dl::io::digest(
        std::as_bytes(std::span(master.context.state.parameters)));
    if (asked)
      lie.statistics = {1};
    else
      lie.updater_state = {7};
    const std::uint64_t rejected = master.context.report.rejected;
    master.deliver(a, lie.to_message());
    CHECK(master.context.report.rejected == rejected + 1);
    CHECK(master.context.state.updater_state.empty());
    CHECK(master.context.state.statistics.empty());
  }
}

TEST_CASE("a worker that does not tell its digest gets no work") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kSharing);
  s.epochs = 4;
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  master.join("a");
  Worker& mute = master.join("mute");
  mute.mute = true;
  while (master.context.state.epoch < 1) master.turn();
  Member& member = *master.context.members.find("mute");
  CHECK(member.stuck);
  CHECK(master.context.report.lost == 1);
  CHECK(mute.tasks.empty());
  // The others do not wait for it again.
  const double then = master.now;
  while (!master.over()) master.turn();
  CHECK(master.now - then < master.context.limits.stuck_after);
  CHECK(master.context.report.lost == 1);
  check_exactly_once(folder, 4);
}

TEST_CASE("messages out of place are refused in averaging") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kAveraging);
  s.epochs = 40;
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  Worker& rogue = master.join("rogue");
  for (const char* name : {"b", "c"}) master.join(name);
  master.coordinator->tick(master.now);
  std::vector<Wrong> messages = always_wrong();
  messages.push_back(wrong("an Update", Update{1, 1, 0, 1, 0, 4, 1, 1, 0, {}}));
  messages.push_back(wrong("a Digest", Digest{}));
  messages.push_back(wrong("a slice of no lease", Slice{1 << 20, 1, 0, {1}}));
  messages.push_back(
      wrong("a sum of the open round", Reduced{1, 1, 0, {}, "", {}, {}, {}}));
  const auto result = [&] {
    REQUIRE_FALSE(rogue.tasks.empty());
    const Task& task = rogue.tasks.front();
    Result answer;
    answer.lease = task.lease;
    answer.fence = task.fence;
    answer.round = task.slot.round;
    answer.slot = task.slot.index;
    return answer;
  };
  const auto check_result = [&](const std::string& what, const auto& change) {
    Result lie = result();
    change(lie);
    check_refused(master, rogue, {wrong(what, lie)});
    master.coordinator->tick(master.now);
  };
  for (const Wrong& each : messages) {
    check_refused(master, rogue, {each});
    master.coordinator->tick(master.now);
  }
  check_result("another round", [](Result& r) { ++r.round; });
  check_result("another slot", [](Result& r) { ++r.slot; });
  check_result("nobody reduces", [](Result& r) { r.elsewhere = true; });
  while (!master.over()) master.turn();
  check_exactly_once(folder, 40);
}

TEST_CASE("in a tree a sum is taken of its reducer alone") {
  Settings s = settings(Mode::kAveraging);
  s.averaging.workers = 12;
  s.averaging.frequency = 2;
  s.epochs = 40;
  Limits limits;
  limits.topology = Topology::kTree;
  limits.fan_out = 2;
  Folder folder;
  std::optional<RunState> saved;
  Master master(s, limits, folder, saved, 1, kExamples);
  for (int i = 0; i < 12; ++i) master.join("w" + std::to_string(i));
  for (int i = 0; i < 40; ++i) master.turn();
  Worker& rogue = master.link.workers.at("w11");  // a leaf
  Reduced lie;
  lie.round = master.context.state.version + 1;
  lie.why = "it cannot be summed";
  lie.counts.resize(8);
  const auto rejected = master.context.report.rejected;
  master.deliver(rogue, lie.to_message());
  CHECK(master.context.report.rejected == rejected + 1);
  lie.round = master.context.state.version;  // comes late
  master.deliver(rogue, lie.to_message());
  CHECK(master.context.report.rejected == rejected + 1);
}

TEST_CASE("who takes no records is sent few") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kSharing);
  s.epochs = 40;
  Master master(s, Limits{}, folder, saved, 1, kExamples);
  Worker& rogue = master.join("rogue");
  master.join("b");
  master.turn();
  const Fetch fetch{false, 0, 0};
  master.deliver(rogue, fetch.to_message());
  CHECK(master.records == 1);
  master.link.full = {"rogue"};
  for (int i = 0; i < 8; ++i) master.deliver(rogue, fetch.to_message());
  CHECK(master.context.report.rejected == 0);
  CHECK(master.records == 1);
  master.deliver(rogue, fetch.to_message());
  CHECK(master.context.report.rejected == 1);
  CHECK(master.context.members.find("rogue")->wanted.size() == 8);
  CHECK(master.records == 1);
  master.link.full.clear();
  master.turn();
  CHECK(master.records == 9);
}

TEST_CASE("who takes no answers is sent few") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kSharing), Limits{}, folder, saved, 1,
                kExamples);
  std::map<std::string, int> sent;
  master.join("b");
  Worker& rogue = master.link.workers["rogue"];
  rogue.peer = "rogue";
  rogue.hello.name = "b";  // is taken
  int answers = 0;
  master.link.carry = [&](const std::string&, const Worker& to, Received) {
    answers += to.peer == "rogue";
  };
  const auto say = [&] {
    master.deliver(rogue, rogue.hello.to_message());
    master.deliver(rogue, Beat{}.to_message());
    return std::exchange(answers, 0);
  };
  CHECK(say() == 2);
  master.link.full = {"rogue"};
  CHECK(say() == 0);
}

TEST_CASE("what a parent says is not held against its child") {
  Settings s = settings(Mode::kSharing);
  s.epochs = 40;
  Limits limits;
  limits.topology = Topology::kTree;
  limits.fan_out = 2;
  Folder folder;
  std::optional<RunState> saved;
  Master master(s, limits, folder, saved, 1, kExamples);
  for (int i = 0; i < 4; ++i) master.join("w" + std::to_string(i));
  for (int i = 0; i < 20; ++i) master.turn();
  Member& child = *master.context.members.find("w2");
  REQUIRE(child.seat.fed_by == 1);
  const auto rejected = master.context.report.rejected;
  master.deliver(master.link.workers.at("w2"),
                 Fed{1, 0, 1'000'000, ""}.to_message());
  CHECK(master.context.report.rejected == rejected);
  CHECK(child.violations == 0);
  CHECK(child.seat.fed_by == 0);
  CHECK(child.seat.parent == 0);
  while (!master.over()) master.turn();
  check_exactly_once(folder, 40);
}

TEST_CASE("evaluations that cannot be merged are refused as they come") {
  Settings s = settings(Mode::kAveraging);
  s.evaluations = {"regression"};
  s.metric = "rmse";
  // An evaluation of two numbers or of a named output, if the network has one.
  for (const auto& [kind, subject] :
       {std::pair<const char*, dl::eval::Subject>{"calibration", {2, {}}},
        {"regression", {2, {}}},
        {"regression", {1, {}, "digit"}}}) {
    Folder folder;
    std::optional<RunState> saved;
    Master master(s, Limits{}, folder, saved, 1, kExamples, 100);
    Worker& rogue = master.join("rogue");
    for (const char* name : {"b", "c"}) master.join(name);
    bool lied = false;
    while (!master.over()) {
      master.turn();
      if (lied || rogue.tasks.empty() ||
          rogue.tasks.front().kind != TaskKind::kEvaluate)
        continue;
      lied = true;
      TaskDone lie;
      lie.lease = rogue.tasks.front().lease;
      lie.fence = rogue.tasks.front().fence;
      lie.examples = 4 * rogue.tasks.front().count;
      lie.evaluations = {dl::eval::make_evaluation(kind, subject)->to_json()};
      master.deliver(rogue, lie.to_message());
      CHECK(master.context.report.rejected == 1);
    }
    CHECK(lied);
    REQUIRE(master.context.state.history.size() == 2);
    CHECK(master.context.state.history[1].metrics.contains("rmse"));
  }
}

TEST_CASE("who sends wrong messages again and again is put out") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSharing}) {
    Folder folder;
    std::optional<RunState> saved;
    Settings s = settings(mode);
    s.epochs = 40;
    Master master(s, Limits{}, folder, saved, 1, kExamples);
    Worker& rogue = master.join("rogue");
    for (const char* name : {"b", "c"}) master.join(name);
    // Good answers in between make up for nothing.
    for (int turn = 0; turn < 5000 && !master.over(); ++turn) {
      if (turn % 12 == 7 && rogue.refused < 0)
        master.deliver(rogue, Stop{}.to_message());
      master.turn();
    }
    CHECK(rogue.refused == 69);
    CHECK(master.context.report.rejected == ResultHandler::kMostRejections);
    check_exactly_once(folder, 40);
  }
}

TEST_CASE("who is refused again and again does not fill the log") {
  Folder folder;
  std::optional<RunState> saved;
  Master master(settings(Mode::kSharing), Limits{}, folder, saved, 1,
                kExamples);
  Worker& a = master.join("a");
  Message nonsense = a.hello.to_message();
  nonsense.body["name"] = std::string(kLongestWorkerName + 1, 'a');
  const auto told = [&] {
    return std::ranges::count_if(master.said, [](const std::string& line) {
      return line.find("a worker was refused: Hello.name") == 0;
    });
  };
  for (int i = 0; i < 1000; ++i) master.deliver(a, nonsense);
  CHECK(told() == 20);
  master.now += 61;
  master.coordinator->tick(master.now);
  master.deliver(a, nonsense);
  CHECK(told() == 21);
  CHECK_THAT(master.said.back(), Catch::Contains("980 others before it"));
}

}  // namespace dl::cluster::wrong_message_test
