// Averaging's rounds that other workers sum on the way to the master.

#include <algorithm>
#include <cmath>

#include "libcore/base/number_format.h"
#include "libcore/cluster/master/epoch/averaging/averaging_master.h"

namespace dl::cluster {

namespace {

// Workers may fail so often in a row to sum what they were told to; then the
// master does it for a while, which doubles with each failure after that.
constexpr int kMostReduceFailures = 3;
constexpr double kReducePause = 60, kLongestPause = 3600;  // seconds

}  // namespace

bool AveragingEpoch::working(const Member& member) const {
  return std::ranges::any_of(table_.leases(), [&](const auto& entry) {
    return entry.second.worker == member.number &&
           !elsewhere_.contains(entry.first);
  });
}

bool AveragingEpoch::can_move(const Member& member) const {
  if (!is_sync() || rounds_.empty()) return working(member);
  return std::ranges::any_of(table_.leases(), [&](const auto& entry) {
    return entry.second.worker == member.number &&
           entry.second.first < rounds_.front().end &&
           !elsewhere_.contains(entry.first);
  });
}

// Workers that may feed others reduce as well: they listen, and are spread over
// the hosts.
void AveragingEpoch::plan_reduction(OpenRound& round) {
  if (context_.now < context_.reduction.not_before || plan_exchange(round) ||
      !context_.feed.keeps())
    return;
  std::vector<Member*> reducers;
  for (Member* member : context_.members.workers())
    if (!member->seat.endpoint.empty() && member->in_step && reachable(*member))
      reducers.push_back(member);
  const auto groups = plan_groups(round.slots(), reducers.size());
  for (const ReduceGroup& group : groups) {
    Reduce order;
    order.round = round.version;
    order.level = static_cast<std::int64_t>(group.level);
    order.first = static_cast<std::int64_t>(group.first);
    order.count = static_cast<std::int64_t>(group.count);
    order.parameters =
        static_cast<std::int64_t>(context_.state.parameters.size());
    if (group.up) order.up = reducers[groups[*group.up].reducer]->seat.endpoint;
    if (!context_.outgoing.send(*reducers[group.reducer], order.to_message()))
      return;
    round.appointed.insert(reducers[group.reducer]->number);
  }
  round.groups = groups;
  for (const Member* member : reducers)
    round.reducers.push_back(member->number);
}

std::string AveragingEpoch::reducer_of(const OpenRound& round,
                                       std::size_t slot) const {
  if (round.groups.empty()) return "";
  const ReduceGroup& group = round.groups[slot / exchange::kAverageGroup];
  const Member* member = context_.members.find(round.reducers[group.reducer]);
  return member ? member->seat.endpoint : "";
}

// One of a round that is over, or no longer summed by others, comes late.
void AveragingEpoch::take_reduced(const Member& member, Reduced reduced) {
  const auto found =
      std::ranges::find(rounds_, reduced.round, &OpenRound::version);
  if (found == rounds_.end() && reduced.round <= context_.state.version &&
      context_.feed.keeps())
    return;
  if (found == rounds_.end() || !found->appointed.contains(member.number))
    throw Error{Code::kProtocol, "Reduced: nobody asked for it"};
  OpenRound& round = *found;
  if (round.groups.empty() || round.missing == 0) return;
  if (std::ranges::none_of(round.groups, [&](const ReduceGroup& group) {
        return std::cmp_equal(group.level, reduced.level) &&
               std::cmp_equal(group.first, reduced.first) &&
               round.reducers[group.reducer] == member.number;
      }))
    throw Error{Code::kProtocol, "Reduced: it is another's to sum"};
  std::vector<float> delta;
  if (const std::string why = fault_of(reduced, round, delta); !why.empty())
    return go_direct(round, why);
  context_.reduction = {};
  const auto first = static_cast<std::size_t>(reduced.first);
  const std::size_t count = reduced.counts.size();
  double weight = 0;
  for (const SlotCount& slot : reduced.counts)
    weight += static_cast<double>(slot.examples);
  const std::size_t bytes =
      reduced.delta.size() + sizeof(float) * (reduced.statistics.size() +
                                              reduced.updater_state.size());
  round.deltas.put_sum(first, count, {std::move(delta), weight});
  round.statistics.put_sum(first, count,
                           {std::move(reduced.statistics), weight});
  if (averages_updater())
    round.updater_state.put_sum(first, count,
                                {std::move(reduced.updater_state), weight});
  for (const SlotCount& slot : reduced.counts)
    settle(round, Lease(*table_.find(slot.lease, slot.fence)), slot.examples,
           slot.loss_sum, bytes / count);
  end_rounds();
}

// Why the sum cannot be used; "": it can.
std::string AveragingEpoch::fault_of(const Reduced& reduced,
                                     const OpenRound& round,
                                     std::vector<float>& delta) const {
  if (!reduced.why.empty()) return reduced.why;
  const auto last =
      std::ranges::any_of(round.groups, [&](const ReduceGroup& group) {
        return !group.up && std::cmp_equal(group.level, reduced.level) &&
               std::cmp_equal(group.first, reduced.first) &&
               group.count == reduced.counts.size();
      });
  if (!last) return "it is the sum of no group of the round";
  if (std::string why = fault_of(reduced.counts, reduced.first, round);
      !why.empty())
    return why;
  double weight = 0;
  for (const SlotCount& slot : reduced.counts)
    weight += static_cast<double>(slot.examples);
  return fault_of(reduced.delta, reduced.statistics, reduced.updater_state,
                  weight, delta);
}

// Fault in the counts of the slots from `first` on.
std::string AveragingEpoch::fault_of(std::span<const SlotCount> counts,
                                     std::int64_t first,
                                     const OpenRound& round) const {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const SlotCount& slot = counts[i];
    const Lease* lease = table_.find(slot.lease, slot.fence);
    const auto index = static_cast<std::size_t>(first) + i;
    if (!lease || lease->first != first_of(round, index))
      return "slot " + std::to_string(index) + " was leased again";
    if (slot.examples != examples_of(*lease) ||
        !sound_loss(slot.loss_sum, slot.examples))
      return "its counts are wrong";
  }
  return "";
}

// Makes workers send their results of it here.
void AveragingEpoch::go_direct(OpenRound& round, const std::string& why) {
  if (!round.is_elsewhere() || round.is_averaged || round.missing == 0) return;
  round.groups.clear();
  round.parties = 0;
  round.reducers.clear();
  round.come.clear();
  for (const auto& [id, lease] : table_.leases())
    if (lease.first >= round.first && lease.first < round.end)
      elsewhere_.erase(id);
  context_.events.write("direct", {{"round", round.version},
                                   {"epoch", context_.state.epoch},
                                   {"why", why}});
  context_.log(Level::kDetail, "round " + std::to_string(round.version) +
                                   " is summed by the master: " + why);
  if (is_pulled(round)) begin_pull(round);
  const Direct direct{round.version, round.pull.has_value()};
  for (Member* member : context_.outgoing.tell_all(direct.to_message()))
    release(*member, "it missed a message", false);
}

// Whatever stood in the way may be gone some time later.
void AveragingEpoch::reduction_failed(OpenRound& round,
                                      const std::string& why) {
  go_direct(round, why);
  auto& reduction = context_.reduction;
  if (++reduction.failures < kMostReduceFailures) return;
  reduction.pause =
      std::clamp(2 * reduction.pause, kReducePause, kLongestPause);
  reduction.not_before = context_.now + reduction.pause;
  context_.log(Level::kWarning, "the master sums all replicas for " +
                                    format("%.0f s", reduction.pause) +
                                    "; other workers could not: " + why);
}

bool AveragingEpoch::is_in(const Result& result) const {
  const auto slot = static_cast<std::size_t>(result.slot);
  return std::ranges::any_of(rounds_, [&](const OpenRound& round) {
    return round.version == result.round && slot < round.slots() &&
           round.examples[slot] > 0;
  });
}

// When bytes moved last at who sums, or has the slots to be summed.
double AveragingEpoch::last_flow(const OpenRound& round) const {
  double last = 0;
  for (const Member* member : context_.members.workers())
    last = std::max(last, member->flowed);
  return std::min(last, round.all_elsewhere + kLongestTransfer);
}

// All of a round is with other workers, but their sums do not come.
void AveragingEpoch::watch_reduction() {
  for (OpenRound& round : rounds_) {
    if (!round.is_elsewhere() || round.missing == 0) continue;
    const auto elsewhere =
        std::ranges::count_if(table_.leases(), [&](const auto& entry) {
          return entry.second.first >= round.first &&
                 entry.second.first < round.end &&
                 elsewhere_.contains(entry.first);
        });
    if (std::cmp_less(elsewhere, round.missing))
      round.all_elsewhere = 0;
    else if (round.all_elsewhere == 0)
      round.all_elsewhere = context_.now;
    else if (context_.now - std::max(round.all_elsewhere, last_flow(round)) >
             context_.limits.lost_after)
      reduction_failed(round, "the sums did not come");
  }
}

}  // namespace dl::cluster
