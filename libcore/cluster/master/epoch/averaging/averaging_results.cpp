// Results that come to AveragingEpoch: whether they can be used, and whose they
// are.

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/base/number_format.h"
#include "libcore/cluster/health/step_bound.h"
#include "libcore/cluster/master/epoch/averaging/averaging_master.h"
#include "libcore/cluster/master/members/stragglers.h"
#include "libcore/exchange/codec/delta.h"

namespace dl::cluster {

std::string AveragingEpoch::fault_of(const Result& result, const Lease& lease,
                                     std::vector<float>& delta) const {
  if (result.examples != examples_of(lease))
    return "it counts " + std::to_string(result.examples) + " examples, not " +
           std::to_string(examples_of(lease));
  if (!sound_loss(result.loss_sum, result.examples))
    return "its loss is not finite";
  return fault_of(result.delta, result.statistics, result.updater_state, 1,
                  delta, rounds_.front().whole);
}

// With both open rounds: an average coded with a loss is of up to twice its
// size, and enters the velocity as well.
void AveragingEpoch::look_at(const Reach& reach) {
  const double rate = std::max(1.0, how().outer.rate);
  const double room = StepBound::kRoom - reach.parameters - 4 * reach.velocity -
                      16 * rate * reach.residual;
  most_value_ = StepBound::kRoom / static_cast<double>(std::max<std::int64_t>(
                                       1, context_.training.examples()));
  // How far the updater goes with a gradient does not follow from its size.
  most_delta_ =
      is_sync()
          ? most_value_
          : std::min({StepBound::kProportion * std::max(1.0, reach.parameters),
                      std::max(0.0, room) / (16 * rate), most_value_});
}

std::string AveragingEpoch::fault_of(std::span<const std::byte> coded,
                                     const std::vector<float>& statistics,
                                     const std::vector<float>& updater_state,
                                     double weight, std::vector<float>& delta,
                                     bool whole) const {
  const RunState& state = context_.state;
  const std::size_t updater =
      averages_updater() ? state.updater_state.size() : 0;
  if (statistics.size() != state.statistics.size() ||
      (updater > 0 && updater_state.size() != updater))
    return "its vectors are of another size";
  const auto reach = [&](const std::vector<float>& values) {
    return static_cast<double>(largest_magnitude(values)) / weight;
  };
  if (reach(statistics) > most_value_ ||
      (updater > 0 && reach(updater_state) > most_value_))
    return "its values are not finite, or nearly so";
  delta.resize(state.parameters.size());
  try {
    exchange::read_delta(coded, delta);
  } catch (const Error& error) {
    return error.what();
  }
  if (whole && reach(delta) <= StepBound::kRoom) return "";
  if (!whole && reach(delta) <= most_delta_) return "";
  return "its difference reaches " + format("%.2g", reach(delta)) +
         ", and the largest parameter is " +
         format("%.2g",
                static_cast<double>(largest_magnitude(state.parameters)));
}

void AveragingEpoch::take_result(Member& member, Result result) {
  const Lease* held = table_.find(result.lease, result.fence);
  if (!held || held->worker != member.number) {
    // Others may have been faster with the sum than this word of its part.
    const bool over =
        result.elsewhere && result.round <= context_.state.version;
    if (!over && !is_in(result))
      context_.answers.refuse(member, result.lease, result.fence);
    return;
  }
  Lease lease = *held;
  OpenRound& round = *round_of(lease);
  const std::size_t slot = slot_of(round, lease);
  if (result.round != round.version || !std::cmp_equal(result.slot, slot) ||
      (result.elsewhere && round.appointed.empty() && !round.pull))
    throw Error{Code::kProtocol, "Result: it does not fit its Task"};
  if (result.count > 0) take_cut(round, lease, result.count);
  if (!elsewhere_.contains(lease.id))
    note_trained(member, lease.work, context_.now);
  if (result.elsewhere) {
    if (round.is_elsewhere() || round.pull) elsewhere_.insert(lease.id);
    if (round.pull) offer(round, member, lease, result);
    return;
  }
  if (round.is_elsewhere())
    reduction_failed(round, member.describe() + " cannot reach its reducer");
  std::vector<float> delta;
  if (const std::string why = fault_of(result, lease, delta); !why.empty())
    return reject_result(member, lease, why, is_broken(result.delta));
  if (const std::string why = doubt_of(round, member, result, delta);
      !why.empty())
    return reject_result(member, lease, why);
  if (round.pull) {
    delta.insert(delta.end(), result.statistics.begin(),
                 result.statistics.end());
    if (averages_updater())
      delta.insert(delta.end(), result.updater_state.begin(),
                   result.updater_state.end());
    elsewhere_.insert(lease.id);
    round.pull->put(slot,
                    {lease.id, lease.fence, result.examples, result.loss_sum},
                    std::move(delta));
    return pull(round);
  }
  const auto weight = static_cast<double>(result.examples);
  const std::size_t bytes =
      result.delta.size() +
      sizeof(float) * (result.statistics.size() + result.updater_state.size());
  round.deltas.put(slot, std::move(delta), weight);
  round.statistics.put(slot, std::move(result.statistics), weight);
  if (averages_updater())
    round.updater_state.put(slot, std::move(result.updater_state), weight);
  settle(round, lease, result.examples, result.loss_sum, bytes);
  end_rounds();
}

// Sound workers see to it that a difference is finite.
bool AveragingEpoch::is_broken(std::span<const std::byte> coded) const {
  std::vector<float> delta(context_.state.parameters.size());
  try {
    exchange::read_delta(coded, delta);
  } catch (const Error&) {
    return true;
  }
  return std::isinf(largest_magnitude(delta));
}

// Where a difference is one from the state, and a look at it takes no time.
std::string AveragingEpoch::doubt_of(const OpenRound& round,
                                     const Member& member, const Result& result,
                                     std::span<const float> delta) {
  if (is_sync() || how().overlap || round.whole || result.examples == 0 ||
      std::cmp_greater_equal(result_elements(), context_.limits.pull_from))
    return "";
  return context_.audit.fault_of(context_, member, result, delta);
}

void AveragingEpoch::reject_result(Member& member, const Lease& lease,
                                   const std::string& why, bool broken) {
  const std::size_t slot = slot_of(*round_of(lease), lease);
  changed_ = true;
  revoke_next(member, lease);
  context_.slots.forget(slot, member.number);
  // Whether it is the worker another one shows.
  if (member.rejections > 0) context_.slots.swap_owner(slot);
  elsewhere_.erase(lease.id);
  table_.finish(lease.id);
  forget_lost_offers();
  if (!broken || context_.members.workers().size() < 2)
    return reject(member, lease.first, lease.count, why);
  context_.answers.note_fault(member, lease.first, why);
  member.faulty = true;
  member.unfit = "a result of it is not finite: " + why;
}

// All slots of the round, which was averaged; those that were passed over have
// no lease.
void AveragingEpoch::settle(OpenRound& round,
                            const std::vector<SlotCount>& counts) {
  const std::size_t bytes = sizeof(float) * result_elements() / counts.size();
  for (const SlotCount& slot : counts)
    if (slot.lease != 0)
      settle(round, Lease(*table_.find(slot.lease, slot.fence)), slot.examples,
             slot.loss_sum, bytes);
}

void AveragingEpoch::settle(OpenRound& round, const Lease& lease,
                            std::int64_t examples, double loss_sum,
                            std::size_t bytes) {
  const std::size_t slot = slot_of(round, lease);
  round.examples[slot] = examples;
  round.loss_sums[slot] = loss_sum;
  --round.missing;
  Member* member = context_.members.find(lease.worker);
  require(member != nullptr, "a lease of nobody");
  round.maker = member->number;
  table_.commit(lease.id, lease.fence, lease.first, lease.count);
  losses_.settle(lease.first, lease.count);
  Json more = Json::object();
  for (std::int64_t i = lease.first; i < lease.first + lease.count; ++i)
    if (table_.is_passed_over(i)) more["passed_over"].push_back(i);
  context_.answers.accept(*member, lease, lease.first, lease.count, examples,
                          loss_sum, bytes, more);
  const Lease given = *table_.find(lease.id, lease.fence);
  end_twin(given);
  if (given.count > lease.count)
    revoke(*member, given, "its round is cut short", false);
  else
    table_.finish(lease.id);
  elsewhere_.erase(lease.id);
  context_.slots.learnt(slot, member->number, round.version);
}

}  // namespace dl::cluster
