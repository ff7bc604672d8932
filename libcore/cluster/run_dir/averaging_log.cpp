// dl-run(5) has the table of fields.

#include "libcore/cluster/run_dir/averaging_log.h"

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/cluster/health/step_bound.h"
#include "libcore/cluster/run_dir/round_step.h"
#include "libcore/exchange/codec/delta.h"
#include "libcore/exchange/codec/heads.h"

namespace dl::cluster {

namespace {

void append_floats(std::vector<std::byte>& out, std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// In the place of an outer optimizer's kind: the network's updater.
constexpr std::uint64_t kUpdater = 3;

// A payload, taken apart.
struct RoundRecord {
  RoundOptimizer outer;
  std::int64_t steps = 0;
  // Views of binary32 numbers, anywhere in memory.
  std::span<const std::byte> statistics, updater_state, residual;
  std::span<const std::byte> delta;
};

RoundRecord open_record(std::span<const std::byte> payload) {
  using Kind = exchange::OuterOptimizer::Kind;
  exchange::HeadReader head(payload);
  RoundRecord record;
  const auto kind = head.get<std::uint64_t>();
  if (kind > static_cast<std::uint64_t>(Kind::kReplace))
    bad_data("unknown outer optimizer");
  exchange::OuterOptimizer outer;
  outer.rate = head.get<double>();
  outer.momentum = head.get<double>();
  record.steps = head.get<std::int64_t>();
  if (!(outer.rate > 0 && std::isfinite(outer.rate)) ||
      !(outer.momentum >= 0 && outer.momentum < 1) || record.steps < 1)
    bad_data("impossible values");
  if (kind != kUpdater) {
    outer.kind = static_cast<Kind>(kind);
    record.outer = outer;
  }
  std::array<std::uint64_t, 3> counts{};
  for (std::uint64_t& count : counts) {
    count = head.get<std::uint64_t>();
    if (count > payload.size() / sizeof(float)) bad_data("impossible sizes");
  }
  record.statistics = head.take(sizeof(float) * counts[0]);
  record.updater_state = head.take(sizeof(float) * counts[1]);
  record.residual = head.take(sizeof(float) * counts[2]);
  record.delta = head.rest();
  return record;
}

void copy_floats(std::span<const std::byte> from, std::vector<float>& to) {
  to.resize(from.size() / sizeof(float));
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

Stepped gradient_step(std::span<float> gradient, const RunState& state) {
  Stepped to{state.parameters, {}, state.updater_state};
  nn::Position at;
  at.iteration = state.iteration;
  at.epoch = state.epoch;
  at.factor = state.step_factor;
  if (!state.updater->step(at, gradient, to.parameters, to.updater_state))
    throw Error{Code::kProtocol, "it makes the parameters overflow"};
  return to;
}

}  // namespace

void Stepped::move_into(RunState& state) && {
  state.parameters = std::move(parameters);
  if (!velocity.empty()) state.velocity = std::move(velocity);
  if (!updater_state.empty()) state.updater_state = std::move(updater_state);
}

Stepped step_from(std::vector<float> average, const RoundOptimizer& outer,
                  const RunState& state) {
  if (!outer) return gradient_step(average, state);
  Stepped to;
  if (outer->has_velocity()) to.velocity = state.velocity;
  apply_average(average, *outer, state.constrain, state.parameters,
                to.velocity);
  if (!std::isfinite(largest_magnitude(average)) ||
      !std::isfinite(largest_magnitude(to.velocity)))
    throw Error{Code::kProtocol, "it makes the parameters overflow"};
  to.parameters = std::move(average);
  return to;
}

void take_step(std::span<const std::byte> delta, const RoundOptimizer& outer,
               RunState& state) {
  if (!outer && !state.updater)
    bad_data("a step of an updater that the run does not have");
  if (!outer && delta.empty()) return;
  std::vector<float> average(state.parameters.size());
  exchange::read_delta(delta, average);
  step_from(std::move(average), outer, state).move_into(state);
}

std::vector<std::byte> encode_round_record(const Round& round,
                                           const RoundOptimizer& outer,
                                           std::int64_t steps,
                                           std::span<const float> residual) {
  std::vector<std::byte> out;
  const auto head = outer.value_or(exchange::OuterOptimizer());
  exchange::append(out,
                   outer ? static_cast<std::uint64_t>(head.kind) : kUpdater);
  exchange::append(out, head.rate);
  exchange::append(out, head.momentum);
  exchange::append(out, steps);
  exchange::append(out, std::uint64_t{round.statistics.size()});
  exchange::append(out, std::uint64_t{round.updater_state.size()});
  exchange::append(out, std::uint64_t{residual.size()});
  out.reserve(out.size() +
              sizeof(float) * (round.statistics.size() +
                               round.updater_state.size() + residual.size()));
  append_floats(out, round.statistics);
  append_floats(out, round.updater_state);
  append_floats(out, residual);
  return out;
}

void apply_round(const LogEntry& entry, RunState& state) {
  const std::string name = "round " + std::to_string(entry.sequence);
  if (entry.epoch != state.epoch)
    bad_data(name + " is of epoch " + std::to_string(entry.epoch + 1) +
             ", the run is at epoch " + std::to_string(state.epoch + 1));
  Ranges committed = state.committed;
  if (!add_range(committed, entry.first, entry.count) ||
      committed != Ranges{{0, entry.first + entry.count}})
    bad_data(name + " does not go on where the one before it ended");
  const RoundRecord record = open_record(entry.payload);
  if (record.steps > entry.count) bad_data(name + " has impossible values");
  const auto size_of = [](const std::vector<float>& values) {
    return sizeof(float) * values.size();
  };
  if (record.statistics.size() != size_of(state.statistics) ||
      (!record.updater_state.empty() &&
       record.updater_state.size() != size_of(state.updater_state)) ||
      (!record.residual.empty() &&
       record.residual.size() != size_of(state.parameters)))
    bad_data(name + " has vectors of another size than the checkpoint");

  take_step(record.delta, record.outer, state);
  copy_floats(record.statistics, state.statistics);
  if (!record.updater_state.empty())
    copy_floats(record.updater_state, state.updater_state);
  copy_floats(record.residual, state.residual);
  state.committed = std::move(committed);
  state.version = entry.sequence;
  state.iteration += record.steps;
  state.count(entry.count, entry.examples, entry.loss_sum, 0, 0,
              record.steps == 1);
}

}  // namespace dl::cluster
