// Rounds of averaging in the update log: applied, they give the state that the
// master had after each of them; what does not fit is refused.

#include "libcore/cluster/run_dir/averaging_log.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/delta.h"

namespace dl::cluster::averaging_log_test {

using dl::exchange::DeltaFormat;
using dl::exchange::OuterOptimizer;

namespace {

constexpr std::size_t kElements = 6;
const OuterOptimizer kOuter{OuterOptimizer::Kind::kNesterov, 0.75, 0.5};

RunState start() {
  RunState state;
  state.parameters.assign(kElements, 1);
  state.statistics = {1, 2};
  state.updater_state = {3, 4, 5};
  state.committed = {{0, 4}};
  state.version = 1;
  state.iteration = 2;
  state.examples = 40;
  state.loss_sum = 0.5;
  return state;
}

// A round that half of the parameters' average fits into.
std::vector<std::byte> payload_of(const Round& round,
                                  const RoundOptimizer& outer,
                                  std::int64_t steps,
                                  std::span<const float> residual) {
  std::vector<std::byte> payload =
      encode_round_record(round, outer, steps, residual);
  payload.insert(payload.end(), round.delta.begin(), round.delta.end());
  return payload;
}

struct Made {
  Round round;
  std::vector<float> residual = std::vector<float>(kElements);
  std::vector<std::byte> payload;
  LogEntry entry;

  Made() {
    const std::vector<float> average = {0.5F, 0.25F, -3, 0, 1, 0.125F};
    dl::exchange::encode_delta(average, DeltaFormat::parse("sparse:0.5:2"),
                               residual, round.delta);
    round.statistics = {6, 7};
    round.updater_state = {8, 9, 10};
    payload = payload_of(round, kOuter, 2, residual);
    entry.kind = EntryKind::kRound;
    entry.sequence = 2;
    entry.first = 4;
    entry.count = 4;
    entry.examples = 40;
    entry.loss_sum = 0.25;
    entry.payload = payload;
  }
};

bool same(const RunState& a, const RunState& b) {
  return a.to_json() == b.to_json() && a.parameters == b.parameters &&
         a.statistics == b.statistics && a.updater_state == b.updater_state &&
         a.velocity == b.velocity && a.residual == b.residual;
}

void check_refused(const LogEntry& entry, RunState state,
                   const std::string& why) {
  const RunState before = state;
  CHECK_THROWS_WITH(apply_round(entry, state), Catch::Contains(why));
  CHECK(same(state, before));
}

}  // namespace

TEST_CASE("a logged round makes the state after it of the one before") {
  const Made made;
  RunState state = start();
  apply_round(made.entry, state);

  RunState want = start();
  take_step(made.round.delta, kOuter, want);
  want.statistics = made.round.statistics;
  want.updater_state = made.round.updater_state;
  want.residual = made.residual;
  want.committed = {{0, 8}};
  want.version = 2;
  want.iteration = 4;
  want.count(made.entry.count, made.entry.examples, made.entry.loss_sum, 0);
  CHECK(want.examples == 80);
  CHECK(want.loss_sum == 0.75);
  CHECK(same(state, want));
  CHECK(state.parameters != start().parameters);
  CHECK(state.velocity.size() == kElements);
}

TEST_CASE("a logged gradient is a step of the network's updater") {
  RunState state = start();
  const auto network = dl::nn::parse_network(
      R"({"input": {"shape": [2]},
          "updater": {"type": "nesterov", "learning_rate": 0.5},
          "layers": [{"type": "output", "units": 2, "activation": "identity",
                      "loss": "mean_squared_error"}]})",
      "'net'");
  state.updater = std::make_shared<dl::nn::HostUpdater>(network);
  state.updater_state.assign(kElements, 0.25F);
  state.step_factor = 0.5;
  std::vector<float> gradient = {1, 2, 3, -4, 5, 6};
  RunState want = state;
  dl::nn::Position at;
  at.iteration = state.iteration;
  at.factor = state.step_factor;

  Round round;
  dl::exchange::encode_delta(gradient, {}, {}, round.delta);
  round.statistics = {6, 7};
  LogEntry entry = Made().entry;
  const auto payload = payload_of(round, std::nullopt, 1, {});
  entry.payload = payload;
  apply_round(entry, state);
  REQUIRE(
      state.updater->step(at, gradient, want.parameters, want.updater_state));
  CHECK(state.parameters == want.parameters);
  CHECK(state.updater_state == want.updater_state);
  CHECK(state.statistics == round.statistics);
  CHECK(state.iteration == 3);

  RunState without = start();
  check_refused(entry, without, "updater that the run does not have");
}

TEST_CASE("a logged replica takes the place of the parameters") {
  const std::vector<float> own = {1e-9F, 2, 3, -4, 0, 6};
  Round round;
  dl::exchange::encode_delta(own, {}, {}, round.delta);
  round.statistics = {6, 7};
  round.updater_state = {8, 9, 10};
  LogEntry entry = Made().entry;
  const OuterOptimizer replace{OuterOptimizer::Kind::kReplace, 1, 0};
  const auto payload = payload_of(round, replace, 4, {});
  entry.payload = payload;
  RunState state = start();
  apply_round(entry, state);
  CHECK(state.parameters == own);
  CHECK(state.updater_state == round.updater_state);
  CHECK(state.velocity.empty());
  CHECK(state.iteration == 6);
}

TEST_CASE("what is not averaged is not in a round") {
  const Made made;
  Round round = made.round;
  round.updater_state.clear();
  const auto payload = payload_of(round, kOuter, 2, {});
  CHECK(payload.size() ==
        made.payload.size() - sizeof(float) * (3 + kElements));
  LogEntry entry = made.entry;
  entry.payload = payload;
  RunState state = start();
  apply_round(entry, state);
  CHECK(state.updater_state == start().updater_state);
  CHECK(state.residual.empty());
}

TEST_CASE("a round that does not fit the state is refused") {
  const Made made;
  LogEntry entry = made.entry;
  entry.epoch = 1;
  check_refused(entry, start(), "round 2 is of epoch 2, the run is at epoch 1");
  for (const std::int64_t first : {3, 5}) {
    entry = made.entry;
    entry.first = first;
    check_refused(entry, start(),
                  "round 2 does not go on where the one before it ended");
  }
  RunState other = start();
  other.statistics.push_back(0);
  check_refused(made.entry, other, "of another size");
  other = start();
  other.updater_state.clear();
  check_refused(made.entry, other, "of another size");
  other = start();
  other.parameters.push_back(0);
  check_refused(made.entry, other, "of another size");
}

TEST_CASE("a damaged round is refused") {
  const Made made;
  LogEntry entry = made.entry;
  for (std::size_t size = 0; size < made.payload.size(); ++size) {
    INFO(size << " bytes");
    entry.payload = std::span(made.payload).first(size);
    check_refused(entry, start(), "");
  }
  // Outer optimizer, its rate and momentum, steps, sizes: the top byte of each.
  for (std::size_t at = 7; at < 56; at += 8) {
    INFO("byte " << at);
    std::vector<std::byte> payload = made.payload;
    payload[at] = std::byte{0xff};
    entry.payload = payload;
    check_refused(entry, start(), at == 7 ? "unknown outer" : "impossible");
  }
}

}  // namespace dl::cluster::averaging_log_test
