// The end of a round of AveragingEpoch: the average, the step from it, and who
// is told.

#include <algorithm>

#include "libcore/base/failpoint.h"
#include "libcore/cluster/master/epoch/averaging/averaging_master.h"
#include "libcore/exchange/codec/delta.h"
#include "libcore/io/digest.h"

namespace dl::cluster {

void AveragingEpoch::end_round() {
  RunState& state = context_.state;
  const RoundOptimizer outer = optimizer(rounds_.front());
  Round coded;
  try {
    coded = average(rounds_.front(), outer);
  } catch (const Error& error) {
    if (error.code() != Code::kProtocol) throw;
    throw Error{Code::kConfig,
                "round " + std::to_string(rounds_.front().version) +
                    " gives no parameters that are finite: " + error.what() +
                    "; lower " + (outer ? "--outer-rate or " : "") +
                    "the learning rate"};
  }
  const OpenRound round = std::move(rounds_.front());
  rounds_.pop_front();
  changed_ = true;
  look_at_state();
  state.version = round.version;
  state.iteration += steps(round);
  done_ = round.end;
  unsaved_ = true;
  if (round.whole)
    context_.alone_seconds = (context_.now - round.opened) /
                             static_cast<double>(round.end - round.first);

  const std::int64_t examples = round.all_examples();
  state.count(round.end - round.first, examples, round.loss_sum(), 0, 0,
              steps(round) == 1);
  Json event = {{"round", state.version},
                {"epoch", state.epoch},
                {"first", round.first},
                {"count", round.end - round.first},
                {"slots", round.slots()},
                {"examples", examples},
                {"loss", round.loss_sum() / static_cast<double>(examples)},
                {"bytes", coded.delta.size()}};
  if (round.by_parties()) event["parties"] = round.reducers.size();
  context_.events.write("round", std::move(event));
  record(round, coded, outer);
  send(round, std::move(coded));
}

RoundOptimizer AveragingEpoch::optimizer(const OpenRound& round) const {
  if (is_sync()) return std::nullopt;
  exchange::OuterOptimizer outer = how().outer;
  if (round.whole) outer.kind = exchange::OuterOptimizer::Kind::kReplace;
  if (how().momentum_of_replicas)
    outer.momentum = 1 - 1 / static_cast<double>(round.replicas);
  return outer;
}

// The message for everybody; takes the step from it. The state is as it was if
// it throws: kProtocol, what comes out is not finite.
Round AveragingEpoch::average(OpenRound& round, const RoundOptimizer& outer) {
  RunState& state = context_.state;
  Round coded;
  coded.version = round.version;
  if (outer) coded.momentum = outer->momentum;
  coded.iteration = state.iteration;
  coded.epoch = state.epoch;
  coded.factor = state.step_factor;
  coded.statistics = average_of_statistics(round);
  state.constrain.keep_frozen(coded.statistics, state.statistics);
  if (averages_updater()) coded.updater_state = average_of_updater_state(round);
  if (!all_finite(coded.statistics) || !all_finite(coded.updater_state))
    throw Error{Code::kProtocol, "its statistics are not finite"};
  // As many elements as all replicas sent: their choices differ.
  exchange::DeltaFormat format = how().delta;
  format.density =
      std::min(1.0, format.density * static_cast<double>(round.slots()));
  std::vector<float> residual = state.residual;
  // Without an example there is no gradient, which is not one of zeros.
  if (!is_sync() || round.all_examples() > 0)
    code_and_step(round, format, outer, residual, coded.delta);
  if (!round.whole) {
    coded.digest = io::digest(std::as_bytes(std::span(state.parameters)));
    context_.round_digests[coded.version] = coded.digest;
    while (context_.round_digests.size() > RunContext::kRoundDigests)
      context_.round_digests.erase(context_.round_digests.begin());
  }
  state.residual = std::move(residual);
  state.statistics = coded.statistics;
  if (averages_updater()) state.updater_state = coded.updater_state;
  return coded;
}

// The step from what is coded.  Each vector takes as much memory as the
// parameters, so there are as few of them at a time as can be.
void AveragingEpoch::code_and_step(OpenRound& round,
                                   const exchange::DeltaFormat& format,
                                   const RoundOptimizer& outer,
                                   std::vector<float>& residual,
                                   std::vector<std::byte>& coded) {
  std::vector<float> average = average_of_deltas(round);
  exchange::encode_delta(average, format, residual, coded);
  if (!format.lossy())
    return take_step(std::move(average), outer, context_.state);
  average = std::vector<float>();
  take_step(coded, outer, context_.state);
}

// Takes the vectors of the slots out of the round.
std::vector<float> AveragingEpoch::average_of_deltas(OpenRound& round) const {
  if (!round.is_averaged) {
    std::vector<float> average = round.deltas.result();
    round.deltas = exchange::Average(0, 0);
    return average;
  }
  std::vector<float> average = std::exchange(round.mean, {});
  average.resize(context_.state.parameters.size());
  return average;
}

std::vector<float> AveragingEpoch::average_of_statistics(
    const OpenRound& round) const {
  if (!round.is_averaged) return round.statistics.result();
  const auto begin = round.mean.begin() + std::ssize(context_.state.parameters);
  return {begin, begin + std::ssize(context_.state.statistics)};
}

std::vector<float> AveragingEpoch::average_of_updater_state(
    const OpenRound& round) const {
  if (!round.is_averaged) return round.updater_state.result();
  return {round.mean.end() - std::ssize(context_.state.updater_state),
          round.mean.end()};
}

// Writes it to the log, before anybody is told of it.
void AveragingEpoch::record(const OpenRound& round, const Round& coded,
                            const RoundOptimizer& outer) {
  if (!context_.updates) return;
  const std::vector<std::byte> payload =
      encode_round_record(coded, outer, steps(round), context_.state.residual);
  LogEntry entry;
  entry.kind = EntryKind::kRound;
  entry.sequence = round.version;
  entry.epoch = context_.state.epoch;
  entry.first = round.first;
  entry.count = round.end - round.first;
  entry.examples = round.all_examples();
  entry.loss_sum = round.loss_sum();
  entry.payload = payload;
  context_.updates->append(entry);
  failpoint("master.after_log");
}

// Members that it does not reach are sent State, and so are those that were not
// among the parties that averaged it, or did not do it alone.
void AveragingEpoch::send(const OpenRound& round, Round message) {
  if (round.by_parties() || round.whole) {
    message.held = !round.whole;
    message.delta.clear();
    message.statistics.clear();
    message.updater_state.clear();
    for (Member* member : context_.members.present())
      if (round.whole ? member->number != round.maker
                      : std::ranges::count(round.reducers, member->number) == 0)
        member->in_step = false;
  }
  for (Member* member :
       context_.outgoing.tell_all(std::move(message).to_message()))
    release(*member, "it missed a round", false);
}

}  // namespace dl::cluster
