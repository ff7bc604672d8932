#include "libcore/cluster/averaging_master.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dl::cluster {

AveragingEpoch::AveragingEpoch(RunContext& context)
    : Phase(context),
      order_(context.training, context.settings.batch, context.settings.seed,
             static_cast<std::uint64_t>(context.state.epoch), true),
      table_(order_.batches(), context.next_lease) {
  table_.restore(context.state.committed);
  done_ = table_.committed();
  if (const Ranges ranges = table_.committed_ranges();
      ranges.size() > 1 || (ranges.size() == 1 && ranges[0].first != 0))
    throw Error{Code::kData, "the checkpoint is not from the end of a round"};
}

bool AveragingEpoch::done() const {
  return !round_ && (winding_up_ || table_.complete());
}

Ranges AveragingEpoch::committed() const {
  if (done_ == 0) return {};
  return {{0, done_}};
}

std::int64_t AveragingEpoch::left() const { return order_.batches() - done_; }

bool AveragingEpoch::start_round() {
  const auto ready =
      static_cast<std::int64_t>(context_.members.workers().size());
  const std::int64_t replicas = context_.settings.averaging.workers > 0
                                    ? context_.settings.averaging.workers
                                    : ready;
  if (ready == 0 || winding_up_ || table_.complete()) return false;
  const std::int64_t end =
      replicas > (order_.batches() - done_) / slot_batches()
          ? order_.batches()
          : done_ + replicas * slot_batches();
  const auto slots = static_cast<std::size_t>(
      (end - done_ + slot_batches() - 1) / slot_batches());
  const RunState& state = context_.state;
  round_ = Round{done_,
                 end,
                 {slots, state.parameters.size()},
                 {slots, state.statistics.size()},
                 {slots, state.updater_state.size()},
                 std::vector<std::int64_t>(slots),
                 std::vector<double>(slots),
                 slots};
  return true;
}

void AveragingEpoch::tick() {
  if (!round_ && !start_round()) return;
  for (Member* member : context_.members.workers()) {
    if (!table_.any_free(round_->end)) return;
    if (!reachable(*member) || working(*member)) continue;
    if (!context_.bring_up_to_date(*member)) continue;
    const auto lease =
        table_.grant(member->number, slot_batches(), round_->end);
    context_.hand_out(*member, table_, *lease, TaskKind::kTrain,
                      context_.state.iteration);
  }
}

void AveragingEpoch::take(Member& member, const Message& message) {
  if (message.type == MessageType::kResult)
    take_result(member, Result::from_message(message));
  else if (message.type == MessageType::kFault)
    take_fault(member, Fault::from_message(message));
  else
    refuse_late(member, message);
}

std::string AveragingEpoch::fault_of(const Result& result,
                                     const Lease& lease) const {
  const RunState& state = context_.state;
  const std::size_t updater =
      averages_updater() ? state.updater_state.size() : 0;
  if (result.examples != order_.examples(lease.first, lease.count))
    return "it counts " + std::to_string(result.examples) + " examples, not " +
           std::to_string(order_.examples(lease.first, lease.count));
  if (result.parameters.size() != state.parameters.size() ||
      result.statistics.size() != state.statistics.size() ||
      (updater > 0 && result.updater_state.size() != updater))
    return "its vectors are of another size";
  if (!std::isfinite(result.loss_sum)) return "its loss is not finite";
  if (!all_finite(result.parameters) || !all_finite(result.statistics) ||
      (updater > 0 && !all_finite(result.updater_state)))
    return "its values are not finite";
  return "";
}

void AveragingEpoch::take_result(Member& member, Result result) {
  const Lease* held = table_.find(result.lease, result.fence);
  if (!round_ || !held || held->worker != member.number)
    return context_.refuse(member, result.lease, result.fence);
  const Lease lease = *held;
  if (const std::string why = fault_of(result, lease); !why.empty()) {
    table_.finish(lease.id);
    return context_.reject(member, lease.first, why);
  }
  const auto slot =
      static_cast<std::size_t>((lease.first - round_->first) / slot_batches());
  const auto weight = static_cast<double>(result.examples);
  const std::size_t bytes =
      sizeof(float) * (result.parameters.size() + result.statistics.size() +
                       result.updater_state.size());
  round_->parameters.put(slot, std::move(result.parameters), weight);
  round_->statistics.put(slot, std::move(result.statistics), weight);
  if (averages_updater())
    round_->updater_state.put(slot, std::move(result.updater_state), weight);
  round_->examples[slot] = result.examples;
  round_->loss_sums[slot] = result.loss_sum;

  table_.commit(lease.id, lease.fence, lease.first, lease.count);
  context_.accept(member, lease, lease.first, lease.count, result.examples,
                  result.loss_sum, bytes);
  table_.finish(lease.id);
  if (--round_->missing == 0) end_round();
}

void AveragingEpoch::end_round() {
  RunState& state = context_.state;
  state.parameters = round_->parameters.result();
  state.statistics = round_->statistics.result();
  if (averages_updater()) state.updater_state = round_->updater_state.result();
  state.iteration += std::min(slot_batches(), round_->end - round_->first);
  ++state.version;
  done_ = round_->end;
  const auto examples = std::accumulate(
      round_->examples.begin(), round_->examples.end(), std::int64_t{0});
  const double loss_sum =
      std::accumulate(round_->loss_sums.begin(), round_->loss_sums.end(), 0.0);
  state.examples += examples;
  state.loss_sum += loss_sum;
  context_.events.write("round",
                        {{"round", state.version},
                         {"epoch", state.epoch},
                         {"first", round_->first},
                         {"count", round_->end - round_->first},
                         {"slots", round_->examples.size()},
                         {"examples", examples},
                         {"loss", loss_sum / static_cast<double>(examples)}});
  round_.reset();
}

}  // namespace dl::cluster
