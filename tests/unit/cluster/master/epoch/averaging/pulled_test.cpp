// Averaging and sync whose Results stay with their workers until the master
// pulls them.

#include <catch2/catch.hpp>

#include "libcore/cluster/master/epoch/averaging/pulled_sums.h"
#include "libcore/exchange/rules/average.h"
#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::pulled_test {

using namespace simulation;

namespace {

Limits pulled(Limits limits = {}) {
  limits.pull_from = 1;
  return limits;
}

// Ends of rounds have a thread of their own.
Limits aside(Limits limits = {}) {
  limits.end_aside_from = 1;
  return limits;
}

Settings averaging(std::int64_t workers, UpdaterState policy) {
  Settings s = settings(Mode::kAveraging);
  s.averaging.workers = workers;
  s.averaging.updater_state = policy;
  return s;
}

Settings in_sync(std::int64_t workers) {
  Settings s = settings(Mode::kSync);
  s.averaging.workers = workers;
  return s;
}

void check_equal(const RunState& a, const RunState& b) {
  CHECK(a.parameters == b.parameters);
  CHECK(a.statistics == b.statistics);
  CHECK(a.updater_state == b.updater_state);
  CHECK(a.version == b.version);
}

}  // namespace

TEST_CASE("Results that are pulled average to the same bits") {
  for (const auto policy :
       {UpdaterState::kAverage, UpdaterState::kReset, UpdaterState::kKeep}) {
    const Settings s = averaging(5, policy);
    const RunState want = undisturbed(s, 5);
    check_equal(undisturbed(s, 5, pulled()), want);
    check_equal(undisturbed(s, 2, pulled()), want);
  }
  Settings overlap = averaging(3, UpdaterState::kReset);
  overlap.averaging.overlap = true;
  check_equal(undisturbed(overlap, 3, pulled()), undisturbed(overlap, 3));
  check_equal(undisturbed(in_sync(5), 5, pulled()), undisturbed(in_sync(5), 5));
}

TEST_CASE("Results that are pulled average to the same whatever dies") {
  for (const Settings& s :
       {averaging(3, UpdaterState::kAverage),
        averaging(9, UpdaterState::kReset), in_sync(3), in_sync(9)}) {
    const RunState want = undisturbed(s, 3);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      INFO("seed " << seed);
      check_equal(disturbed(s, seed, pulled()), want);
    }
  }
}

TEST_CASE("rounds that end beside the loop end with the same bits") {
  Settings overlap = averaging(3, UpdaterState::kReset);
  overlap.averaging.overlap = true;
  Settings lossy = averaging(3, UpdaterState::kKeep);
  lossy.averaging.delta = exchange::DeltaFormat::parse("int8");
  for (const Settings& s : {averaging(3, UpdaterState::kAverage), overlap,
                            lossy, in_sync(3), in_sync(9)}) {
    const RunState want = undisturbed(s, 3);
    check_equal(undisturbed(s, 3, aside()), want);
    check_equal(undisturbed(s, 3, aside(pulled())), want);
  }
  for (const Settings& s : {averaging(3, UpdaterState::kAverage), in_sync(3)}) {
    const RunState want = undisturbed(s, 3);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      INFO("seed " << seed);
      check_equal(disturbed(s, seed, aside()), want);
    }
  }
}

TEST_CASE("Results with histories are pulled once whatever dies") {
  for (const bool overlap : {false, true}) {
    Settings s = averaging(3, UpdaterState::kKeep);
    s.averaging.overlap = overlap;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      INFO("seed " << seed);
      CHECK(examples_seen(disturbed(s, seed, pulled())) == 2 * kExamples);
    }
  }
}

TEST_CASE("pieces of all slots are asked for together and averaged at once") {
  constexpr std::size_t kSlots = 3, kElements = 1000;
  PulledSums sums(kSlots, kElements);
  exchange::Average want(kSlots, kElements);
  std::vector<std::vector<float>> results;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    std::vector<float> values(kElements);
    for (std::size_t i = 0; i < kElements; ++i)
      values[i] = static_cast<float>(i * i) / static_cast<float>(slot + 3);
    want.put(slot, values, static_cast<double>(slot + 1));
    results.push_back(std::move(values));
  }
  std::map<std::size_t, std::deque<Pull>> asked;
  const auto request = [&] {
    sums.request([&](std::size_t slot, const Pull& pull) {
      asked[slot].push_back(pull);
      return true;
    });
  };
  const auto answer = [&](std::size_t slot) {
    const Pull pull = asked[slot].front();
    asked[slot].pop_front();
    const auto begin = results[slot].begin() + pull.first;
    const std::vector<float> values(begin, begin + pull.count);
    const auto first = static_cast<std::size_t>(pull.first);
    CHECK(sums.take(slot, first, values));
    CHECK_FALSE(sums.take(slot, first, values));
    request();
  };
  sums.offer(0, {11, 1, 1, 0});
  request();
  CHECK(asked[0].size() == 2);
  CHECK_FALSE(sums.take(0, 500, {1}));  // nobody asked
  sums.offer(1, {12, 1, 2, 0});
  request();
  answer(0);
  answer(0);
  CHECK(asked[0].empty());  // until the others have these
  CHECK_FALSE(sums.owes(0));
  CHECK(sums.owes(1));
  sums.offer(2, {13, 1, 3, 0});
  request();
  for (int piece = 0; piece < 5; ++piece)
    for (const std::size_t slot : {2, 1, 0})
      if (!asked[slot].empty()) answer(slot);
  CHECK_FALSE(sums.complete());
  // Another worker does what one had done: all of it is averaged again.
  sums.lose(1);
  CHECK(sums.lease_of(1) == 0);
  asked.clear();
  sums.offer(1, {14, 2, 2, 0});
  request();
  while (!sums.complete())
    for (const std::size_t slot : {1, 2, 0})
      if (!asked[slot].empty()) answer(slot);
  CHECK(sums.counts()[1].lease == 14);
  CHECK(sums.mean() == want.result());
}

TEST_CASE("a whole Result takes part in what is pulled") {
  PulledSums sums(3, 20);
  sums.pass_over(2);
  sums.put(0, {11, 1, 1, 0}, std::vector<float>(20, 1.0F));
  sums.offer(1, {12, 1, 3, 0});
  while (!sums.complete()) {
    std::vector<Pull> pulls;
    sums.request([&](std::size_t slot, const Pull& pull) {
      CHECK(slot == 1);
      pulls.push_back(pull);
      return true;
    });
    REQUIRE(!pulls.empty());
    for (const Pull& pull : pulls)
      CHECK(sums.take(
          1, static_cast<std::size_t>(pull.first),
          std::vector<float>(static_cast<std::size_t>(pull.count), 5.0F)));
  }
  CHECK(sums.mean() == std::vector<float>(20, 4.0F));
  CHECK(sums.counts()[2].lease == 0);
}

TEST_CASE("a worker that does not send what it has holds up nobody") {
  for (const Mode mode : {Mode::kAveraging, Mode::kSync}) {
    Settings s = settings(mode);
    s.averaging.workers = 3;
    Folder folder;
    std::optional<RunState> saved;
    Master master(s, pulled(), folder, saved, 1, kExamples);
    std::uint64_t pulls = 0;
    master.link.carry = [&](const std::string&, Worker& to, Received received) {
      const bool pull = received.message.type == MessageType::kPull;
      pulls += pull;
      if (!pull || to.peer != "b" || pulls < 100)
        to.receive(std::move(received), mode);
    };
    if (mode == Mode::kSync)  // nobody reaches others
      for (const char* name : {"a", "b", "c"})
        master.join(name).branch->walled_in = true;
    else
      for (const char* name : {"a", "b", "c"}) master.join(name);
    for (int turn = 0; turn < 3000 && !master.over(); ++turn) master.turn();
    REQUIRE(master.coordinator->finished());
    CHECK(pulls > 100);
    check_exactly_once(folder, 2);
    check_equal(master.context.state, undisturbed(s, 3));
    CHECK(count_events(folder, "revoke") > 0);
    CHECK(count_events(folder, "fault") > 0);
  }
}

TEST_CASE("a Result that is pulled and out of all proportion is done again") {
  const Settings s = averaging(3, UpdaterState::kAverage);
  Folder folder;
  std::optional<RunState> saved;
  Master master(s, pulled(), folder, saved, 1, kExamples);
  for (const char* name : {"a", "b", "c"}) master.join(name);
  for (int turn = 0; turn < 20; ++turn) master.turn();
  master.link.workers.at("b").exaggerates = 3e38F;
  while (!master.over()) master.turn();
  REQUIRE(master.coordinator->finished());
  check_equal(master.context.state, undisturbed(s, 3));
  CHECK(count_events(folder, "fault") == 1);
}

TEST_CASE("a slot of bad data is passed over in a round that is pulled") {
  Settings s = averaging(3, UpdaterState::kReset);
  s.averaging.frequency = 1;
  RunState ends[2];
  for (const bool pull : {false, true}) {
    Folder folder;
    std::optional<RunState> saved;
    Limits limits;
    if (pull) limits = pulled();
    limits.skip_bad_shards = 1;
    Master master(s, limits, folder, saved, 1, kExamples);
    master.context.examine = [](const Fetch&) {
      throw Error{Code::kData, "'b.dls', record 0: checksum differs"};
    };
    master.context.training = {{{100}, {103}}};
    master.order =
        dl::data::Epoch(master.context.training, s.batch, s.seed, 0, true);
    for (const char* name : {"a", "b", "c"}) master.join(name);
    Worker& last = master.link.workers.at("c");
    last.period = 5;  // the others have given theirs by then
    while (last.tasks.empty()) master.turn();
    const Task task = last.tasks.front();
    last.tasks.clear();
    master.turn();
    master.deliver(
        last, Fault{task.lease, task.fence, task.first, "damaged", 65, 1, 0}
                  .to_message());
    for (int turn = 0; turn < 3000 && !master.over(); ++turn) {
      master.turn();
      // The master knows which records are left; these workers count by it.
      master.order = dl::data::Epoch(
          master.context.training.without(master.context.state.without()),
          s.batch, s.seed,
          static_cast<std::uint64_t>(master.context.state.epoch), true);
    }
    REQUIRE(master.context.state.version > 3);
    CHECK(master.context.state.bad_shards.size() == 1);
    CHECK(master.context.state.passed_over > 0);
    ends[pull] = master.context.state;
  }
  check_equal(ends[1], ends[0]);
}

}  // namespace dl::cluster::pulled_test
