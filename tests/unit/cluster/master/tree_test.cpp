#include "libcore/cluster/tree/tree.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "libcore/base/philox.h"
#include "libcore/cluster/tree/feed.h"
#include "libcore/cluster/tree/reduce_plan.h"
#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::tree_test {

using namespace simulation;

namespace {

std::map<std::uint64_t, std::uint64_t> parents(const Tree& tree) {
  std::map<std::uint64_t, std::uint64_t> result;
  for (std::size_t i = 0; i < tree.members().size(); ++i)
    result[tree.members()[i]] = tree.parent(i);
  return result;
}

FeedItem item(std::uint64_t number) {
  return {number, Stale{number, 0, -1}.to_message()};
}

std::vector<std::uint64_t> numbers(const std::vector<FeedItem>& items) {
  std::vector<std::uint64_t> result;
  for (const FeedItem& each : items) result.push_back(each.number);
  return result;
}

struct NoLink : RelayLink {
  int told = 0;                // messages to children
  std::set<std::string> gone;  // children
  Listening listen() override { return {}; }
  void connect(const std::string&) override {}
  void send_to_parent(const Message&, const Envelope&) override {}
  bool send_to_child(const std::string& child, const Message&,
                     const Envelope&) override {
    if (gone.contains(child)) return false;
    ++told;
    return true;
  }
};

Limits star_limits() {
  Limits limits;
  limits.topology = Topology::kStar;
  return limits;
}

Limits tree_limits(std::int64_t fan_out) {
  Limits limits;
  limits.topology = Topology::kTree;
  limits.fan_out = fan_out;
  return limits;
}

}  // namespace

TEST_CASE("a tree stays flat and changes little when members come and go") {
  dl::Philox random(1, 0);
  for (const std::size_t fan_out : {2, 8}) {
    Tree tree(fan_out);
    std::set<std::uint64_t> there;
    std::uint64_t next = 0;
    for (int i = 0; i < 3000; ++i) {
      const auto before = parents(tree);
      if (there.size() < 5 || random.below(2) == 0) {
        tree.add(++next);
        there.insert(next);
      } else {
        const auto gone =
            *std::next(there.begin(),
                       static_cast<std::ptrdiff_t>(random.below(there.size())));
        tree.remove(gone);
        there.erase(gone);
      }
      const auto after = parents(tree);
      REQUIRE(after.size() == there.size());
      std::map<std::uint64_t, std::size_t> children;
      std::size_t moved = 0;
      for (const auto& [member, parent] : after) {
        REQUIRE(++children[parent] <= fan_out);
        REQUIRE((parent == 0 || there.contains(parent)));
        moved += before.contains(member) && before.at(member) != parent;
      }
      REQUIRE(moved <= fan_out + 1);
      for (std::size_t j = 0; j < tree.members().size(); ++j) {
        REQUIRE(tree.has_children(j) == children.contains(tree.members()[j]));
        // The way up ends at the master, within the depth of a full tree.
        std::uint64_t at = tree.members()[j];
        double room = static_cast<double>(there.size());
        while (at != 0) {
          REQUIRE(room >= 1);
          room /= static_cast<double>(fan_out);
          at = after.at(at);
        }
      }
    }
  }
}

TEST_CASE("a feed hands out each message once, in its turn") {
  Feed feed;
  CHECK(feed.take(item(1)).empty());  // nothing is known yet
  CHECK(feed.restart(3).empty());
  CHECK(feed.take(item(3)).empty());
  CHECK(numbers(feed.take(item(4))) == std::vector<std::uint64_t>{4});
  CHECK(feed.take(item(7)).empty());
  CHECK(feed.take(item(6)).empty());
  CHECK(feed.take(item(6)).empty());
  CHECK(numbers(feed.take(item(5))) == std::vector<std::uint64_t>{5, 6, 7});
  CHECK(feed.position() == 7);
  CHECK(feed.take(item(10)).empty());
  // A State brings all up to 9, so 10 is next.
  CHECK(numbers(feed.restart(9)) == std::vector<std::uint64_t>{10});
  CHECK(feed.restart(8).empty());  // back: what follows comes again
  CHECK(numbers(feed.take(item(9))) == std::vector<std::uint64_t>{9});
  feed.forget();
  CHECK_FALSE(feed.position().has_value());
}

TEST_CASE("a relay feeds as many as the master gives it") {
  NoLink link;
  Relay relay(link);
  relay.begin_session("", 1);
  relay.listen(Listen{2});
  Envelope envelope;
  envelope.feed = 3;
  relay.from_master({envelope, State{}.to_message()});
  const Received attach{{}, Attach{}.to_message()};
  const auto told = [&] { return std::exchange(link.told, 0); };
  CHECK(told() == 0);
  for (int i = 0; i < 1000; ++i) relay.from_child(std::to_string(i), attach);
  CHECK(told() == 4);
  for (int i = 0; i < 1000; ++i) relay.from_child("0", attach);
  CHECK(told() == 0);  // it was told
  // Workers that are gone make room.
  link.gone = {"0", "1"};
  envelope.feed = 4;
  relay.from_master({envelope, Statistics{1, {2}}.to_message()});
  CHECK(told() == 2);
  relay.from_child("new", attach);
  CHECK(told() == 1);
}

TEST_CASE("a task waits for the feed that it follows") {
  NoLink link;
  Relay relay(link);
  relay.begin_session("", 1);
  const auto types = [&](const Message& message, std::uint64_t feed) {
    Envelope envelope;
    envelope.feed = feed;
    std::string names;
    for (const Message& turn : relay.from_master({envelope, message}))
      names += std::string(name_of(turn.type)) + " ";
    return names;
  };
  const auto task = [](std::uint64_t lease, std::uint64_t feed) {
    Task one;
    one.lease = lease;
    one.count = 1;
    one.feed = feed;
    return one.to_message();
  };
  const Message statistics = Statistics{1, {2}}.to_message();
  CHECK(types(State{}.to_message(), 3) == "State ");
  CHECK(types(task(1, 3), 0) == "Task ");
  CHECK(types(task(2, 5), 0).empty());
  CHECK(types(task(3, 5), 0).empty());
  CHECK(types(Stale{3, 0, -1}.to_message(), 0) == "Stale ");
  CHECK(types(statistics, 5).empty());
  CHECK(types(statistics, 4) == "Statistics Statistics Task ");
  // A State ends all tasks.
  CHECK(types(task(4, 7), 0).empty());
  CHECK(types(State{}.to_message(), 7) == "State ");
}

TEST_CASE("a feed's source keeps the latest messages") {
  FeedSource source;
  CHECK(source.add(item(0).message) == 1);
  source.keep();
  Message large = item(0).message;
  large.blobs.emplace_back(FeedSource::kMaxBytes / 3);
  for (std::uint64_t n = 2; n <= 5; ++n) CHECK(source.add(large) == n);
  std::vector<std::uint64_t> seen;
  const auto note = [&](const FeedItem& each) { seen.push_back(each.number); };
  CHECK_FALSE(source.visit(2, 5, note));
  CHECK_FALSE(source.visit(3, 6, note));
  CHECK(seen.empty());
  CHECK(source.visit(3, 5, note));
  CHECK(seen == std::vector<std::uint64_t>{4, 5});
  CHECK(source.visit(5, 5, note));
}

TEST_CASE("in a tree nobody sends a message more often than it has children") {
  Folder folder;
  std::optional<RunState> saved;
  Settings s = settings(Mode::kSharing);
  s.epochs = 50;
  Master master(s, tree_limits(2), folder, saved, 1, kExamples);
  constexpr int kWorkers = 14;
  for (int i = 0; i < kWorkers; ++i) master.join("w" + std::to_string(i));
  const auto turns = [&](int n) {
    while (n-- > 0) master.turn();
  };
  turns(20);  // everybody has a parent
  master.link.fed = 0;
  for (auto& [name, worker] : master.link.workers) worker.branch->messages = 0;
  const std::uint64_t before = master.context.feed.number();
  turns(40);
  const std::uint64_t told = master.context.feed.number() - before;
  REQUIRE(told > 200);
  CHECK(master.link.fed == 2 * told);
  const std::uint64_t under_way = 2 * kWorkers * 5;  // in levels and turns
  std::uint64_t relayed = 0;
  for (const auto& [name, worker] : master.link.workers) {
    CHECK(worker.branch->messages <= 2 * (told + under_way));
    relayed += worker.branch->messages;
  }
  CHECK(relayed >= (kWorkers - 2) * (told - under_way));
  CHECK(relayed <= (kWorkers - 2) * (told + under_way));
  CHECK(master.context.report.resyncs == 0);
}

TEST_CASE("a tree of workers gives what a star gives") {
  for (const Mode mode : {Mode::kSharing, Mode::kAveraging}) {
    const RunState star = undisturbed(settings(mode), 13);
    const RunState tree = undisturbed(settings(mode), 13, tree_limits(2));
    CHECK(star.version == tree.version);
    if (mode == Mode::kAveraging) CHECK(star.parameters == tree.parameters);
  }
}

TEST_CASE("the groups of a round") {
  CHECK(plan_groups(8, 3).empty());
  CHECK(plan_groups(100, 0).empty());
  for (const std::size_t slots : {9, 16, 64, 65, 130, 513}) {
    const auto groups = plan_groups(slots, 5);
    std::size_t last = 0, covered = 0;
    for (const ReduceGroup& group : groups) {
      CHECK(group.reducer < 5);
      if (!group.up) {
        ++last;
        covered += group.count;
        continue;
      }
      const ReduceGroup& up = groups[*group.up];
      CHECK(up.level == group.level + 1);
      CHECK(up.first <= group.first);
      CHECK(group.first + group.count <= up.first + up.count);
    }
    CHECK(last <= 8);
    CHECK(covered == slots);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const ReduceGroup& group = groups[slot / 8];
      CHECK(group.level == 1);
      CHECK((group.first <= slot && slot < group.first + group.count));
    }
  }
}

TEST_CASE("workers sum what the master would sum, to the last bit") {
  for (const int slots : {20, 70}) {
    Settings s = settings(Mode::kAveraging);
    s.averaging.workers = slots;
    s.averaging.frequency = 1;
    s.epochs = 8;
    const RunState star = undisturbed(s, slots);
    Folder folder;
    std::optional<RunState> saved;
    Master master(s, tree_limits(8), folder, saved, 1, kExamples);
    for (int i = 0; i < slots; ++i) master.join("w" + std::to_string(i));
    while (!master.over()) master.turn();
    CHECK(master.context.state.parameters == star.parameters);
    CHECK(master.context.state.statistics == star.statistics);
    CHECK(master.context.state.updater_state == star.updater_state);
    std::uint64_t results = 0;
    for (const auto& [name, worker] : master.link.workers)
      results += worker.branch->results;
    CHECK(results > 4 * 51);
    CHECK(master.context.reduction.failures == 0);
    CHECK(count_events(folder, "direct") == 0);
  }
}

// Results are right whoever sums, so only this shows who does.
TEST_CASE("in a tree the master gets no more than in a star, in every mode") {
  constexpr std::uint64_t kVector = 4 * (kParameters + kStatistics);
  constexpr int kRounds = 12;
  for (const Mode mode : {Mode::kSync, Mode::kAveraging})
    for (const int workers : {12, 40, 128}) {
      INFO((mode == Mode::kSync ? "sync, " : "averaging, ") << workers);
      Settings s = settings(mode);
      s.averaging.workers = workers;
      s.averaging.frequency = 1;
      s.epochs = 1;
      const auto bytes = [&](const Limits& limits) {
        Folder folder;
        std::optional<RunState> saved;
        Master master(s, limits, folder, saved, 1,
                      std::int64_t{4} * workers * kRounds);
        for (int i = 0; i < workers; ++i) master.join("w" + std::to_string(i));
        while (!master.over()) master.turn();
        CHECK(master.context.reduction.failures == 0);
        CHECK(count_events(folder, "direct") == 0);
        CHECK(count_events(folder, "round") == kRounds);
        return master.vector_bytes;
      };
      const std::uint64_t star = bytes(star_limits()),
                          tree = bytes(tree_limits(8));
      CHECK(10 * tree <= 11 * star);
      // Nobody listens yet in the first rounds.
      const std::uint64_t first = 3 * static_cast<std::uint64_t>(workers);
      const bool all = mode == Mode::kSync && workers <= 64;
      CHECK(tree <= kVector * (first + (all ? 1 : 8) * 2 * kRounds));
    }
}

TEST_CASE("in a tree of sharing the master gets as much and sends less") {
  for (const std::uint64_t workers : {12, 40, 128}) {
    INFO(workers);
    struct Traffic {  // of an update
      double in, out;
    };
    const auto traffic = [&](const Limits& limits, std::size_t fed) {
      Folder folder;
      std::optional<RunState> saved;
      Master master(settings(Mode::kSharing), limits, folder, saved, 1,
                    static_cast<std::int64_t>(4 * 1000 * workers));
      for (std::uint64_t i = 0; i < workers; ++i)
        master.join("w" + std::to_string(i));
      while (master.context.members.fed_by_master().size() > fed) master.turn();
      const std::uint64_t version = master.context.state.version;
      const std::uint64_t in = master.vector_bytes, out = master.link.fed;
      for (int turn = 0; turn < 10; ++turn) master.turn();
      const auto updates =
          static_cast<double>(master.context.state.version - version);
      REQUIRE(updates > static_cast<double>(workers));
      return Traffic{static_cast<double>(master.vector_bytes - in) / updates,
                     static_cast<double>(master.link.fed - out) / updates};
    };
    const Traffic star = traffic(star_limits(), workers),
                  tree = traffic(tree_limits(8), 8);
    CHECK(tree.in <= 1.1 * star.in);
    CHECK(star.out == Approx(workers).epsilon(0.1));
    CHECK(tree.out <= 8.8);
  }
}

TEST_CASE("a tree commits every mini-batch once whatever dies") {
  const Limits limits = tree_limits(2);
  const RunState calm = undisturbed(settings(Mode::kAveraging), 3);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    disturbed(settings(Mode::kSharing), seed, limits);
    CHECK(disturbed(settings(Mode::kAveraging), seed, limits).parameters ==
          calm.parameters);
  }
}

TEST_CASE("sums by workers come to the same whatever dies") {
  Settings s = settings(Mode::kAveraging);
  s.averaging.workers = 20;
  s.averaging.frequency = 1;
  s.epochs = 4;
  const RunState calm = undisturbed(s, 20);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    CHECK(disturbed(s, seed, tree_limits(2), 12).parameters == calm.parameters);
  }
  s.averaging.overlap = true;
  s.averaging.delta = dl::exchange::DeltaFormat::parse("sparse:0.1:2");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed << ", overlapping");
    disturbed(s, seed, tree_limits(2), 12);
  }
}

}  // namespace dl::cluster::tree_test
