// The end of a round of AveragingEpoch: the average, the step from it, and who
// is told.

#include <algorithm>

#include "libcore/base/failpoint.h"
#include "libcore/cluster/master/epoch/averaging/averaging_master.h"
#include "libcore/exchange/codec/delta.h"
#include "libcore/io/digest.h"

namespace dl::cluster {

// The round after next begins before the next one ends, even if that is
// complete: from which version it starts must not depend on who was fast.
void AveragingEpoch::end_rounds() {
  while (!rounds_.empty() && rounds_.front().missing == 0) {
    if (!end_round()) return;
    if (how().overlap) tick();
  }
}

// Returns false if the end is under way, and goes on when it is called again.
bool AveragingEpoch::end_round() {
  OpenRound& round = rounds_.front();
  try {
    if (!ending_)
      ending_ = std::make_unique<RoundEnd>(
          average_of(round), context_.state,
          std::cmp_greater_equal(result_elements(),
                                 context_.limits.end_aside_from));
    if (!ending_->ready()) return false;
    if (!ending_->stepped() && !end_step(round)) return false;
    ending_->end_entry();
  } catch (...) {
    ending_.reset();
    throw;
  }
  if (context_.updates) failpoint("master.after_log");
  const OpenRound over = std::move(round);
  rounds_.pop_front();
  changed_ = true;
  close(over);
  return true;
}

// Ends the step, and begins the entry in the log, before anybody is told.
// Returns whether that is over.
bool AveragingEpoch::end_step(const OpenRound& round) {
  try {
    ending_->end_step();
  } catch (const Error& error) {
    if (error.code() != Code::kProtocol) throw;
    throw Error{Code::kConfig,
                "round " + std::to_string(round.version) +
                    " gives no parameters that are finite: " + error.what() +
                    "; lower " + (is_sync() ? "" : "--outer-rate or ") +
                    "the learning rate"};
  }
  const std::int64_t examples = round.all_examples();
  Json event = {{"round", round.version},
                {"epoch", context_.state.epoch},
                {"first", round.first},
                {"count", round.end - round.first},
                {"slots", round.slots()},
                {"examples", examples},
                {"loss", round.loss_sum() / static_cast<double>(examples)},
                {"bytes", ending_->round().delta.size()}};
  if (round.by_parties()) event["parties"] = round.reducers.size();
  context_.events.write("round", std::move(event));
  if (context_.updates) begin_entry(round);
  return ending_->ready();
}

void AveragingEpoch::begin_entry(const OpenRound& round) {
  LogEntry entry;
  entry.kind = EntryKind::kRound;
  entry.sequence = round.version;
  entry.epoch = context_.state.epoch;
  entry.first = round.first;
  entry.count = round.end - round.first;
  entry.examples = round.all_examples();
  entry.loss_sum = round.loss_sum();
  ending_->begin_entry(*context_.updates, entry, steps(round));
}

// The state becomes that after the round, and all are told.
void AveragingEpoch::close(const OpenRound& round) {
  RunState& state = context_.state;
  look_at(ending_->move_into(state));
  Round message = ending_->take_round();
  ending_.reset();
  state.statistics = message.statistics;
  if (averages_updater()) state.updater_state = message.updater_state;
  state.version = round.version;
  state.iteration += steps(round);
  done_ = round.end;
  unsaved_ = true;
  if (!round.whole) {
    context_.round_digests[message.version] = message.digest;
    while (context_.round_digests.size() > RunContext::kRoundDigests)
      context_.round_digests.erase(context_.round_digests.begin());
  } else {
    context_.alone_seconds = (context_.now - round.opened) /
                             static_cast<double>(round.end - round.first);
  }
  state.count(round.end - round.first, round.all_examples(), round.loss_sum(),
              0, 0, steps(round) == 1);
  send(round, std::move(message));
}

// A checkpoint has what is under way.
void AveragingEpoch::settle() {
  while (ending_) {
    ending_->wait();
    end_rounds();
  }
  unsaved_ = false;
}

// Takes the vectors out of the round.
RoundAverage AveragingEpoch::average_of(OpenRound& round) const {
  const RunState& state = context_.state;
  RoundAverage average;
  average.outer = optimizer(round);
  average.whole = round.whole;
  // As many elements as all replicas sent: their choices differ.
  average.format = how().delta;
  average.format.density = std::min(
      1.0, average.format.density * static_cast<double>(round.slots()));
  Round& message = average.round;
  message.version = round.version;
  if (average.outer) message.momentum = average.outer->momentum;
  message.iteration = state.iteration;
  message.epoch = state.epoch;
  message.factor = state.step_factor;
  message.statistics = average_of_statistics(round);
  state.constrain.keep_frozen(message.statistics, state.statistics);
  if (averages_updater())
    message.updater_state = average_of_updater_state(round);
  if (!all_finite(message.statistics) || !all_finite(message.updater_state))
    throw Error{Code::kConfig,
                "round " + std::to_string(round.version) +
                    " gives statistics that are not finite; lower the "
                    "learning rate"};
  // Without an example there is no gradient, which is not one of zeros.
  if (!is_sync() || round.all_examples() > 0)
    average.average = average_of_deltas(round);
  if (round.by_parties()) average.pieces = std::move(round.come);
  return average;
}

RoundOptimizer AveragingEpoch::optimizer(const OpenRound& round) const {
  if (is_sync()) return std::nullopt;
  exchange::OuterOptimizer outer = how().outer;
  if (round.whole) outer.kind = exchange::OuterOptimizer::Kind::kReplace;
  if (how().momentum_of_replicas)
    outer.momentum = 1 - 1 / static_cast<double>(round.replicas);
  return outer;
}

std::vector<float> AveragingEpoch::average_of_deltas(OpenRound& round) const {
  if (round.is_averaged) return std::exchange(round.mean, {});
  std::vector<float> average = round.deltas.result();
  round.deltas = exchange::Average(0, 0);
  return average;
}

std::vector<float> AveragingEpoch::average_of_statistics(
    const OpenRound& round) const {
  const std::size_t from = context_.state.parameters.size();
  const std::size_t count = context_.state.statistics.size();
  if (!round.is_averaged) return round.statistics.result();
  if (!round.by_parties()) {
    const auto begin = round.mean.begin() + static_cast<std::ptrdiff_t>(from);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }
  std::vector<float> average(count);
  for (const auto& [at, piece] : round.come)
    for (std::size_t i = static_cast<std::size_t>(at) + piece.size();
         i > std::max(from, static_cast<std::size_t>(at)); --i)
      average[i - 1 - from] = piece[i - 1 - static_cast<std::size_t>(at)];
  return average;
}

std::vector<float> AveragingEpoch::average_of_updater_state(
    const OpenRound& round) const {
  if (!round.is_averaged) return round.updater_state.result();
  return {round.mean.end() - std::ssize(context_.state.updater_state),
          round.mean.end()};
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
