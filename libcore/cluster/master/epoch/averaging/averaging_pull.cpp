// Averaging's rounds whose Results wait at their workers for the master.

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/base/number_format.h"
#include "libcore/cluster/master/epoch/averaging/averaging_master.h"

namespace dl::cluster {

// Lossy differences are short, and a round of one replica has one Result.
bool AveragingEpoch::is_pulled(const OpenRound& round) const {
  return !round.whole && !how().delta.lossy() &&
         std::cmp_greater_equal(result_elements(), context_.limits.pull_from);
}

std::size_t AveragingEpoch::result_elements() const {
  const RunState& state = context_.state;
  return state.parameters.size() + state.statistics.size() +
         (averages_updater() ? state.updater_state.size() : 0);
}

void AveragingEpoch::begin_pull(OpenRound& round) {
  round.pull.emplace(round.slots(), result_elements());
  round.pulled_at.assign(round.slots(), 0);
  for (const std::size_t slot : round.passed_over) round.pull->pass_over(slot);
}

// The worker's Result is there to be pulled.
void AveragingEpoch::offer(OpenRound& round, Member& member, const Lease& lease,
                           const Result& result) {
  if (result.examples != examples_of(lease))
    return reject_result(member, lease,
                         "it counts " + std::to_string(result.examples) +
                             " examples, not " +
                             std::to_string(examples_of(lease)));
  if (!sound_loss(result.loss_sum, result.examples))
    return reject_result(member, lease, "its loss is not finite");
  end_twin(lease);
  round.pull->offer(slot_of(round, lease),
                    {lease.id, lease.fence, result.examples, result.loss_sum});
  pull(round);
}

// One of a lease that has ended comes late.
void AveragingEpoch::take_slice(Member& member, Slice slice) {
  const Lease* held = table_.find(slice.lease, slice.fence);
  if (!held || held->worker != member.number)
    return context_.answers.require_given(slice.lease);
  const Lease lease = *held;
  OpenRound& round = *round_of(lease);
  const std::size_t slot = slot_of(round, lease);
  if (!round.pull || round.pull->lease_of(slot) != lease.id) return;
  if (const std::string why = fault_of(slice); !why.empty())
    return reject_result(member, lease, why,
                         std::isinf(largest_magnitude(slice.values)));
  const auto first = static_cast<std::size_t>(slice.first);
  if (!round.pull->take(slot, first, std::move(slice.values))) return;
  round.pulled_at[slot] = context_.now;
  pull(round);
}

// A difference is bound by what a step may be, all behind it by what sums are.
std::string AveragingEpoch::fault_of(const Slice& slice) const {
  const auto reach = [](std::span<const float> values) {
    return static_cast<double>(largest_magnitude(values));
  };
  const std::span<const float> values = slice.values;
  const std::size_t parameters = context_.state.parameters.size();
  const auto first = static_cast<std::size_t>(slice.first);
  const std::size_t of_delta =
      std::min(values.size(), parameters - std::min(parameters, first));
  if (!(reach(values.subspan(of_delta)) <= most_value_))
    return "its values are not finite, or nearly so";
  if (!(reach(values.first(of_delta)) <= most_delta_))
    return "its difference reaches " +
           format("%.2g", reach(values.first(of_delta))) +
           ", and the largest parameter is " +
           format("%.2g", reach(context_.state.parameters));
  return "";
}

// Asks for what may be asked for; a slot whose worker cannot be told now is
// asked at the next tick.
void AveragingEpoch::pull(OpenRound& round) {
  round.pull->request([&](std::size_t slot, const Pull& pull) {
    const Lease* lease = table_.find(pull.lease, pull.fence);
    Member* member = lease ? context_.members.find(lease->worker) : nullptr;
    if (!member || !reachable(*member)) return false;
    if (!round.pull->owes(slot)) round.pulled_at[slot] = context_.now;
    return context_.outgoing.send(*member, pull.to_message());
  });
  finish_pull(round);
}

void AveragingEpoch::finish_pull(OpenRound& round) {
  if (!round.pull->complete()) return;
  const std::vector<SlotCount> counts = round.pull->counts();
  // Workers need the memory for the Round.
  for (const SlotCount& slot : counts)
    if (const Lease* lease = table_.find(slot.lease, slot.fence))
      if (Member* member = context_.members.find(lease->worker))
        context_.outgoing.send(*member,
                               Pull{slot.lease, slot.fence}.to_message());
  round.mean = std::move(round.pull->mean());
  round.pull.reset();
  round.is_averaged = true;
  settle(round, counts);
  end_rounds();
}

// Finishes what is complete of all open rounds; each may end rounds.
void AveragingEpoch::finish_pulls() {
  const auto is_complete = [](const OpenRound& round) {
    return round.pull && round.pull->complete();
  };
  for (auto found = std::ranges::find_if(rounds_, is_complete);
       found != rounds_.end();
       found = std::ranges::find_if(rounds_, is_complete))
    finish_pull(*found);
}

// When the slot was asked last, sent something, or bytes of it moved.
double AveragingEpoch::moved_at(const OpenRound& round, std::size_t slot,
                                const Member& member) const {
  const double at = round.pulled_at[slot];
  return std::max(at, std::min(member.flowed, at + kLongestTransfer));
}

// A worker that has a Result and does not send it goes by no protocol.
void AveragingEpoch::watch_pulls() {
  std::vector<std::uint64_t> silent;
  for (const OpenRound& round : rounds_) {
    if (!round.pull) continue;
    for (std::size_t slot = 0; slot < round.slots(); ++slot) {
      const auto lease = table_.leases().find(round.pull->lease_of(slot));
      if (!round.pull->owes(slot) || lease == table_.leases().end()) continue;
      const Member* member = context_.members.find(lease->second.worker);
      if (member && context_.now - moved_at(round, slot, *member) >
                        context_.limits.lost_after)
        silent.push_back(member->number);
    }
  }
  for (const std::uint64_t number : silent) {
    Member* member = context_.members.find(number);
    if (!member) continue;
    constexpr const char* kWhy = "it does not send the Result that it has";
    member->in_step = false;
    release(*member, kWhy, false);
    context_.answers.reject(*member, -1, kWhy);
  }
  forget_lost_offers();
  for (std::size_t i = 0; i < rounds_.size(); ++i)
    if (rounds_[i].pull) return pull(rounds_[i]);  // which may end rounds
}

void AveragingEpoch::forget_lost_offers() {
  for (OpenRound& round : rounds_) {
    if (!round.pull) continue;
    for (std::size_t slot = 0; slot < round.slots(); ++slot) {
      const std::uint64_t lease = round.pull->lease_of(slot);
      if (lease != 0 && !table_.leases().contains(lease))
        round.pull->lose(slot);
    }
  }
}

}  // namespace dl::cluster
