// The history that a worker keeps of averaging's rounds, message by message.

#include "libcore/cluster/worker/slot_keeper.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "libcore/base/error.h"
#include "libcore/cluster/run_dir/averaging_log.h"
#include "libcore/cluster/worker/learner.h"
#include "libcore/exchange/codec/delta.h"
#include "libcore/io/digest.h"

namespace dl::cluster::slot_keeper_test {

using dl::exchange::DeltaFormat;

namespace {

using Floats = std::vector<float>;

AveragingSettings how(const char* format, UpdaterState policy,
                      bool overlap = false) {
  AveragingSettings s;
  s.delta = DeltaFormat::parse(format);
  s.updater_state = policy;
  s.overlap = overlap;
  return s;
}

State state(std::uint64_t version, Floats parameters) {
  State s;
  s.version = version;
  s.parameters = std::move(parameters);
  return s;
}

Round round(std::uint64_t version, const Floats& gain) {
  Round r;
  r.version = version;
  dl::exchange::encode_delta(gain, {}, {}, r.delta);
  return r;
}

Task task(std::uint64_t version, std::uint64_t round, std::uint64_t follows,
          std::int64_t slot = 0) {
  Task t;
  t.version = version;
  t.count = 1;
  t.iteration = static_cast<std::int64_t>(10 * round);
  t.slot = {slot, round, follows, ""};
  return t;
}

Floats copy(std::span<const float> v) { return {v.begin(), v.end()}; }

Floats decoded(const Result& result, std::size_t n) {
  Floats gain(n);
  dl::exchange::decode_delta(result.delta, 1, gain);
  return gain;
}

}  // namespace

TEST_CASE("rounds make of the State what the master has") {
  SlotKeeper keeper(how("f32", UpdaterState::kReset));
  CHECK_THROWS_AS(keeper.begin(task(0, 1, 0)), OutOfStep);
  CHECK_THROWS_AS(keeper.take(round(1, {1, 1})), OutOfStep);
  keeper.take(state(4, {1, 2}));
  CHECK(copy(keeper.begin(task(4, 5, 0))->parameters) == Floats{1, 2});
  CHECK_THROWS_AS(keeper.take(round(6, {1, 1})), OutOfStep);
  keeper.take(round(5, {1, -1}));
  CHECK(copy(keeper.begin(task(5, 6, 0))->parameters) == Floats{2, 1});
  CHECK_THROWS_AS(keeper.begin(task(4, 5, 0)), OutOfStep);
  // Many that nobody asks for.
  for (std::uint64_t v = 6; v < 20; ++v) keeper.take(round(v, {1, 0}));
  CHECK(copy(keeper.begin(task(19, 20, 0))->parameters) == Floats{16, 1});
}

TEST_CASE("parameters keep the network's constraints, as the master's do") {
  const dl::nn::Constrainer constrain(dl::nn::parse_network(
      R"({"input": {"shape": [1]}, "constraints": {"max_norm": 2},
          "layers": [{"type": "output", "units": 1, "loss":
          "mean_squared_error"}]})",
      "'net'"));
  SlotKeeper keeper(how("f32", UpdaterState::kReset), constrain);
  keeper.take(state(0, {1, 5}));
  keeper.take(round(1, {3, 1}));
  CHECK(copy(keeper.begin(task(1, 2, 0))->parameters) == Floats{2, 6});
  RunState master;
  master.constrain = constrain;
  master.parameters = {1, 5};
  take_step(round(1, {3, 1}).delta, dl::exchange::OuterOptimizer{}, master);
  CHECK(master.parameters == Floats{2, 6});
}

TEST_CASE("parameters that are not what a round says are told of once") {
  const auto digest = [](const Floats& v) {
    return dl::io::digest(std::as_bytes(std::span(v)));
  };
  SlotKeeper keeper(how("f32", UpdaterState::kReset));
  keeper.take(state(4, {1, 2}));
  Round next = round(5, {1, -1});
  next.digest = digest({2, 1});
  keeper.take(next);
  CHECK(keeper.begin(task(5, 6, 0)));
  CHECK_FALSE(keeper.take_difference());
  next = round(6, {1, 0});
  next.digest = digest({3, 2});
  keeper.take(next);
  CHECK_FALSE(keeper.begin(task(6, 7, 0)));
  const auto difference = keeper.take_difference();
  REQUIRE(difference);
  CHECK(difference->sequence == 6);
  CHECK(difference->digest == digest({3, 1}));
  CHECK_FALSE(keeper.take_difference());
  CHECK_FALSE(keeper.begin(task(6, 7, 0)));
  keeper.take(state(6, {3, 2}));
  CHECK(keeper.begin(task(6, 7, 0)));
}

TEST_CASE("a round of the wrong size changes nothing") {
  SlotKeeper keeper(how("f32", UpdaterState::kReset));
  keeper.take(state(4, {1, 2}));
  keeper.take(round(5, {1, 1, 1}));
  CHECK_THROWS_AS(keeper.begin(task(5, 6, 0)), dl::Error);
}

TEST_CASE("what coding leaves out is sent later") {
  SlotKeeper keeper(how("sparse:0.25:16", UpdaterState::kReset));
  keeper.take(state(0, {0, 0, 0, 0}));
  Floats sum(4);
  for (std::uint64_t r = 1; r <= 4; ++r) {
    const Task t = task(r - 1, r, r - 1);
    REQUIRE(keeper.begin(t));
    // Once it learns, then nothing more: what was left out follows.
    const Floats learnt = r == 1 ? Floats{8, 4, 2, 1} : Floats(4);
    const auto start = keeper.begin(t);
    Floats replica = copy(start->parameters);
    // It has learnt that already.
    if (r > 1) CHECK(replica == Floats{8, 4, 2, 1});
    for (std::size_t i = 0; i < 4; ++i) replica[i] += learnt[i];
    const Floats gain = decoded(*keeper.finish(t, replica, {}, {}), 4);
    CHECK(std::count(gain.begin(), gain.end(), 0.0F) == 3);
    for (std::size_t i = 0; i < 4; ++i) sum[i] += gain[i];
    keeper.take(round(r, gain));
  }
  CHECK(sum == Floats{8, 4, 2, 1});
}

TEST_CASE("a history that starts afresh holds nothing back") {
  SlotKeeper keeper(how("sparse:0.25:16", UpdaterState::kKeep));
  keeper.take(state(0, {0, 0, 0, 0}));
  Task t = task(0, 1, 0);
  CHECK(keeper.begin(t)->updater_state.empty());
  CHECK(keeper.begin(t)->afresh == 10);
  REQUIRE(keeper.finish(t, Floats{8, 4, 2, 1}, {}, {5, 6}));
  keeper.take(round(1, {0, 0, 0, 0}));

  // Refused: the master says so in the next task.
  t = task(1, 2, 0);
  CHECK(keeper.begin(t)->updater_state.empty());
  CHECK(keeper.begin(t)->afresh == 20);
  const Floats gain =
      decoded(*keeper.finish(t, Floats{0, 0, 3, 0}, {}, {7, 8}), 4);
  CHECK(gain == Floats{0, 0, 3, 0});

  // Accepted: it goes on, and another slot of this worker has its own.
  keeper.take(round(2, {0, 0, 0, 0}));
  CHECK(copy(keeper.begin(task(2, 3, 2))->updater_state) == Floats{7, 8});
  CHECK(keeper.begin(task(2, 3, 2))->afresh == 20);
  CHECK(keeper.begin(task(2, 3, 0, 1))->updater_state.empty());
  CHECK(copy(keeper.begin(task(2, 3, 2))->updater_state) == Floats{7, 8});
  // A task that goes on from a round not done here is refused.
  CHECK_FALSE(keeper.begin(task(2, 4, 3)));
  CHECK_FALSE(keeper.begin(task(2, 3, 2, 5)));
  keeper.begin_session();
  keeper.take(state(2, {0, 0, 0, 0}));
  CHECK_FALSE(keeper.begin(task(2, 3, 2)));
}

TEST_CASE("an overlapping round starts from the slot's own difference") {
  SlotKeeper keeper(how("f32", UpdaterState::kReset, true));
  keeper.take(state(0, {1, 1}));
  const Task first = task(0, 1, 0), second = task(0, 2, 1);
  REQUIRE(keeper.begin(first));
  REQUIRE(keeper.finish(first, Floats{2, 0.75F}, {3}, {}));
  auto start = keeper.begin(second);
  CHECK(copy(start->parameters) == Floats{2, 0.75F});
  CHECK(copy(start->statistics) == Floats{3});
  REQUIRE(keeper.finish(second, Floats{2.5F, 0.75F}, {4}, {}));

  // Round 1 is in; what was learnt in round 2 is not.  Round 2 may be here
  // already: the third starts without it all the same.
  keeper.take(round(1, {0.5F, 0.5F}));
  keeper.take(round(2, {9, 9}));
  start = keeper.begin(task(1, 3, 2));
  CHECK(copy(start->parameters) == Floats{2, 1.5F});
  // A slot without a history, and one whose rounds are all in, start plainly.
  CHECK(copy(keeper.begin(task(1, 3, 0, 1))->parameters) == Floats{1.5F, 1.5F});
  CHECK(copy(keeper.begin(task(2, 3, 2))->parameters) == Floats{10.5F, 10.5F});
}

TEST_CASE("an overlapping round starts from what was left out as well") {
  SlotKeeper keeper(how("sparse:0.25:16", UpdaterState::kReset, true));
  keeper.take(state(0, {0, 0, 0, 0}));
  const Task first = task(0, 1, 0), second = task(0, 2, 1);
  REQUIRE(keeper.begin(first));
  const auto sent = keeper.finish(first, Floats{8, 4, 2, 1}, {}, {});
  CHECK(decoded(*sent, 4) == Floats{8, 0, 0, 0});
  CHECK(copy(keeper.begin(second)->parameters) == Floats{8, 4, 2, 1});
  // It learns 1 more in the last; 4 of round 1 are sent.
  const auto next = keeper.finish(second, Floats{8, 4, 2, 2}, {}, {});
  CHECK(decoded(*next, 4) == Floats{0, 4, 0, 0});
  keeper.take(round(1, {8, 0, 0, 0}));
  CHECK(copy(keeper.begin(task(1, 3, 2))->parameters) == Floats{8, 4, 2, 2});
}

TEST_CASE("a replica that is not finite is not sent and leaves no trace") {
  SlotKeeper keeper(how("int8", UpdaterState::kKeep));
  keeper.take(state(0, {1, 1}));
  REQUIRE(keeper.begin(task(0, 1, 0)));
  CHECK_FALSE(keeper.finish(task(0, 1, 0), Floats{1, NAN}, {}, {1, 1}));
  CHECK_FALSE(keeper.begin(task(0, 2, 1)));
  CHECK(keeper.begin(task(0, 1, 0)));
}

TEST_CASE("a replica that is alone goes on from what it has, to the last bit") {
  AveragingSettings s;
  s.alone = true;
  SlotKeeper keeper(s);
  keeper.take(state(3, {1, 2}));
  Task one = task(3, 4, 0);
  one.slot.slots = 1;
  CHECK(keeper.begin(one)->version == 3);
  // The difference of its first number to 1 has lost the end.
  const Floats own = {1e-9F, 3};
  const auto sent = keeper.finish(one, own, {5}, {6, 7});
  CHECK(decoded(*sent, 2) == own);
  CHECK(sent->statistics == Floats{5});
  CHECK(sent->updater_state == Floats{6, 7});
  // The master may want it from the start again.
  CHECK(copy(keeper.begin(one)->parameters) == Floats{1, 2});
  REQUIRE(keeper.finish(one, own, {5}, {6, 7}));
  Round held;
  held.version = 4;
  keeper.take(held);
  const auto start = keeper.begin(task(4, 5, 0));
  CHECK(copy(start->parameters) == own);
  CHECK(copy(start->statistics) == Floats{5});
  CHECK(copy(start->updater_state) == Floats{6, 7});
  CHECK(start->version == 4);
  held.version = 5;  // nobody made that here
  keeper.take(held);
  CHECK_THROWS_AS(keeper.begin(task(5, 6, 0)), OutOfStep);
}

TEST_CASE("a State must have the velocity that its optimizer wants") {
  AveragingSettings s = how("f32", UpdaterState::kReset);
  s.outer = {dl::exchange::OuterOptimizer::Kind::kMomentum, 1, 0.5};
  SlotKeeper keeper(s);
  CHECK_THROWS_AS(keeper.take(state(0, {1, 1})), dl::Error);
  State right = state(0, {1, 1});
  right.velocity = {2, 2};
  keeper.take(right);
  Round r = round(1, {1, 1});
  r.momentum = 0.25;  // the master's word, as it may follow from the replicas
  keeper.take(r);
  CHECK(copy(keeper.begin(task(1, 2, 0))->parameters) == Floats{2.5F, 2.5F});
}

}  // namespace dl::cluster::slot_keeper_test
