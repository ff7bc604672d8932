#include "libcore/cluster/master/epoch/averaging/averaging_master.h"

#include <algorithm>
#include <numeric>

#include "libcore/base/number_format.h"
#include "libcore/cluster/health/step_bound.h"
#include "libcore/cluster/master/members/stragglers.h"
#include "libcore/exchange/codec/delta.h"

namespace dl::cluster {

namespace {

// A round of one replica lasts so long: its end costs the time to copy the
// state some times, and to log it.
constexpr double kAloneSeconds = 1, kMostAloneSeconds = 60;
constexpr double kAloneFloatsPerSecond = 1.2e6;  // a few hundredths of it

}  // namespace

AveragingEpoch::AveragingEpoch(RunContext& context)
    : Phase(context),
      order_(context.training.without(context.state.without()),
             context.settings.batch, context.settings.seed,
             static_cast<std::uint64_t>(context.state.epoch), true),
      table_(order_.batches(), context.next_lease) {
  const Ranges& done = context.state.committed;
  if (done.size() > 1 || (done.size() == 1 && done[0].first != 0))
    throw Error{Code::kData, "the checkpoint is not from the end of a round"};
  condemn_bad();  // none of that was ever committed
  table_.restore(done);
  if (!done.empty()) done_ = done[0].second;
  RunState& state = context_.state;
  if (how().outer.has_velocity())
    state.velocity.resize(state.parameters.size());
  if (how().delta.lossy()) state.residual.resize(state.parameters.size());
  look_at(reach_of(state));
}

bool AveragingEpoch::done() const {
  return rounds_.empty() && (winding_up_ || table_.complete());
}

Ranges AveragingEpoch::committed() const {
  if (done_ == 0) return {};
  return {{0, done_}};
}

// --- Work goes out ----------------------------------------------------------

bool AveragingEpoch::may_open() const {
  const bool ahead = how().overlap || (!rounds_.empty() && goes_ahead());
  const std::size_t most = ahead ? kMostOpenRounds : 1;
  const std::int64_t begun = rounds_.empty() ? done_ : rounds_.back().end;
  return rounds_.size() < most && !winding_up_ && begun < order_.batches() &&
         !context_.members.workers().empty();
}

AveragingEpoch::OpenRound::OpenRound(std::size_t slots, const RunState& state)
    : deltas(slots, state.parameters.size()),
      statistics(slots, state.statistics.size()),
      updater_state(slots, state.updater_state.size()),
      examples(slots),
      loss_sums(slots),
      missing(slots) {}

std::int64_t AveragingEpoch::OpenRound::all_examples() const {
  return std::accumulate(examples.begin(), examples.end(), std::int64_t{0});
}

double AveragingEpoch::OpenRound::loss_sum() const {
  return std::accumulate(loss_sums.begin(), loss_sums.end(), 0.0);
}

// How many mini-batches a replica trains that has nobody beside it.
std::int64_t AveragingEpoch::alone_batches(std::int64_t first) const {
  const RunState& state = context_.state;
  const auto floats =
      static_cast<double>(state.parameters.size() + state.statistics.size() +
                          state.updater_state.size());
  double seconds = std::clamp(floats / kAloneFloatsPerSecond, kAloneSeconds,
                              kMostAloneSeconds);
  if (context_.limits.checkpoint_every > 0)
    seconds = std::min(seconds, context_.limits.checkpoint_every);
  // The first mini-batch of all tells how long one takes.
  std::int64_t batches = 1;
  if (context_.alone_seconds > 0)
    batches = static_cast<std::int64_t>(
        std::clamp(seconds / context_.alone_seconds, 1.0, 1e9));
  const std::int64_t every = context_.limits.checkpoint_batches;
  return every > 0 ? std::min(batches, every - first % every) : batches;
}

// The last two rounds of an epoch share the slots that are left: a step from
// the gradient of one or two is far noisier than all before it, and nothing
// comes after it.  Where the last one would still have less than half of a
// round's examples, there is one round of all.
std::int64_t AveragingEpoch::slots_of_round(std::int64_t first,
                                            std::int64_t of_slot,
                                            std::int64_t replicas) const {
  const std::int64_t batches = order_.batches() - first;
  const std::int64_t left = (batches + of_slot - 1) / of_slot;
  if (left / 2 >= replicas) return replicas;
  if (left <= replicas) return left;
  const std::int64_t half = (left + 1) / 2;
  if (how().keeps_history()) return half;  // no replica has two slots of one
  const std::int64_t from = first + half * of_slot;
  const std::int64_t examples = order_.examples(from, order_.batches() - from);
  const std::int64_t whole = replicas * of_slot * context_.settings.batch;
  return 2 * examples < whole ? left : half;
}

void AveragingEpoch::open_round() {
  const std::int64_t first = rounds_.empty() ? done_ : rounds_.back().end;
  const std::int64_t replicas =
      how().workers > 0
          ? how().workers
          : static_cast<std::int64_t>(context_.members.workers().size());
  const std::int64_t of_slot =
      how().alone && replicas == 1 ? alone_batches(first) : slot_batches();
  const std::int64_t left = order_.batches() - first;
  const std::int64_t slots = slots_of_round(first, of_slot, replicas);
  const std::int64_t end = first + std::min(left, slots * of_slot);
  OpenRound round(static_cast<std::size_t>(slots), context_.state);
  round.of_slot = of_slot;
  round.opened = context_.now;
  round.whole = how().alone && slots == 1;
  round.version = context_.state.version + rounds_.size() + 1;
  round.first = first;
  round.end = end;
  round.replicas = replicas;
  round.iteration = context_.state.iteration;
  for (const OpenRound& before : rounds_) round.iteration += steps(before);
  plan_reduction(round);
  if (!round.is_elsewhere() && is_pulled(round)) begin_pull(round);
  rounds_.push_back(std::move(round));
  assign_slots(true);
}

void AveragingEpoch::assign_slots(bool rebalance) {
  if (!how().keeps_history() || rounds_.empty()) return;
  std::vector<std::uint64_t> there, away;
  for (const Member* member : context_.members.workers())
    (member->closed > 0 ? away : there).push_back(member->number);
  context_.slots.assign(static_cast<std::size_t>(rounds_.back().replicas),
                        there, away, rebalance);
}

// A signal to stop and a worker that joins do not wait for the end of a long
// round.
void AveragingEpoch::cut_short() {
  if (rounds_.empty() || !rounds_.front().whole) return;
  OpenRound& round = rounds_.front();
  const std::vector<Member*> workers = context_.members.workers();
  if (round.replicas > 1 || (!winding_up_ && workers.size() < 2)) return;
  for (Member* member : workers)
    for (const Lease& lease : table_.of(member->number))
      if (lease.id != round.cut && reachable(*member) &&
          context_.outgoing.send(*member,
                                 Cut{lease.id, lease.fence}.to_message()))
        round.cut = lease.id;
}

// The round is what was done of it.
void AveragingEpoch::take_cut(OpenRound& round, Lease& lease,
                              std::int64_t count) {
  if (lease.id != round.cut || count > lease.count)
    throw Error{Code::kProtocol, "Result: nobody cut its Task"};
  lease.count = lease.work = count;
  round.end = round.first + count;
}

// Most Results free nobody who has something to do: all members and slots are
// looked at some times a second, and as it is time for work to go out.
void AveragingEpoch::tick() {
  const bool due = std::exchange(changed_, false) || slots_wait_ ||
                   (ending_ && ending_->ready());
  if (!due && context_.now < next_look_) return;
  next_look_ = context_.now +
               kLookForMember * static_cast<double>(context_.members.size());
  end_rounds();
  watch_reduction();
  watch_pulls();
  cut_short();
  do {
    if (may_open()) open_round();
    pass_over_slots();
    hand_out();
    speculate();
  } while (may_open());
}

std::int64_t AveragingEpoch::batches_of(const OpenRound& round,
                                        std::size_t slot) const {
  return std::min(round.of_slot, round.end - first_of(round, slot));
}

// A slot of which nothing is left weighs nothing; where that is all of the
// round, its result is the state that there is.
void AveragingEpoch::pass_over_slots() {
  if (context_.state.bad_shards.empty()) return;
  for (OpenRound& round : rounds_)
    for (std::size_t slot = 0; slot < round.slots() && round.missing > 0;
         ++slot) {
      if (round.passed_over.contains(slot)) continue;
      const std::int64_t first = first_of(round, slot);
      std::int64_t left = batches_of(round, slot);
      for (std::int64_t i = first; left > 0 && table_.is_passed_over(i); ++i)
        if (--left == 0) pass_over(round, slot);
    }
  finish_pulls();
  end_rounds();
}

void AveragingEpoch::pass_over(OpenRound& round, std::size_t slot) {
  go_direct(round, "a slot is passed over");
  const RunState& state = context_.state;
  round.passed_over.insert(slot);
  const bool all = --round.missing == 0 && round.all_examples() == 0;
  const double weight = all ? 1 : 0;
  round.whole = false;
  if (all) round.pull.reset();
  if (round.pull) round.pull->pass_over(slot);
  round.deltas.put(slot, std::vector<float>(state.parameters.size()), weight);
  round.statistics.put(slot, state.statistics, weight);
  if (averages_updater())
    round.updater_state.put(slot, state.updater_state, weight);
}

// A round that is open may have slots that are in, by whoever was fast: the
// shards are left out of those that follow.
std::int64_t AveragingEpoch::leaves_out_from(std::int64_t batch) const {
  for (const OpenRound& round : rounds_) {
    if (batch < round.first || batch >= round.end) continue;
    if (!how().overlap && !is_sync()) return round.end;
    if (rounds_.back().first > round.first) return rounds_.back().end;
    return round.end + round.replicas * round.of_slot;
  }
  return done_;
}

// But for those that were passed over when they were granted.
std::int64_t AveragingEpoch::examples_of(const Lease& lease) const {
  std::int64_t examples = 0;
  for (std::int64_t i = lease.first; i < lease.first + lease.count; ++i)
    if (!table_.is_passed_over(i)) examples += order_.examples(i, 1);
  return examples;
}

void AveragingEpoch::hand_out() {
  assign_slots(false);
  slots_wait_ = false;
  std::optional<std::vector<Member*>> idle;
  for (OpenRound& round : rounds_)
    for (std::size_t slot = 0; slot < round.slots(); ++slot) {
      const std::int64_t first = first_of(round, slot);
      const std::int64_t count = batches_of(round, slot);
      if (!table_.any_free(first, count)) continue;
      if (!idle) idle = idle_workers();
      Member* member = how().keeps_history() ? owner_for(slot, round)
                                             : worker_for(slot, round, *idle);
      if (!member && round.version == rounds_.front().version)
        member = take_from_next(first, count);
      slots_wait_ = slots_wait_ || !member;
      if (!member) continue;
      if (round.parties != 0 &&
          std::ranges::count(round.reducers, member->number) == 0)
        go_direct(round, member->describe() + " has a slot of it");
      if (!working(*member)) note_begun(*member, context_.now);
      const auto lease = table_.grant_at(member->number, first, count);
      send_task(*member, *lease, round.iteration,
                slot_for(round, slot, *member));
    }
}

// Not where a slot depends on the worker that did it before.
void AveragingEpoch::speculate() {
  if (how().keeps_history()) return;
  if (!context_.limits.speculate) return;
  const Medians medians(context_.members.workers());
  const auto usual = [&](const Member& member) {
    return medians.of_others(member);
  };
  for (const Lease& lease : overdue(usual)) {
    if (elsewhere_.contains(lease.id)) continue;
    Member* member = idle_worker();
    if (!member) return;
    OpenRound& round = *round_of(lease);
    if (!follows(*member, round)) return;
    go_direct(round, "a slot is given to a second worker");
    if (!member->in_step) return;
    const auto copy = table_.copy(lease.id, member->number);
    if (!copy) continue;
    note_begun(*member, context_.now);
    send_task(*member, *copy, round.iteration,
              slot_for(round, slot_of(round, lease), *member));
  }
}

std::vector<Member*> AveragingEpoch::idle_workers() const {
  std::vector<Member*> idle = context_.members.workers();
  std::erase_if(idle, [&](const Member* member) { return working(*member); });
  return idle;
}

// Worker that may do the slot now, taken out of those that have nothing to do.
Member* AveragingEpoch::worker_for(std::size_t slot, const OpenRound& round,
                                   std::vector<Member*>& idle) {
  const std::int64_t first = first_of(round, slot);
  const std::int64_t count = batches_of(round, slot);
  const auto found = std::ranges::find_if(idle, [&](Member* member) {
    return may_do(*member, first, count) && reachable(*member) &&
           follows(*member, round) &&
           context_.outgoing.bring_up_to_date(*member);
  });
  if (found == idle.end()) return nullptr;
  Member* const member = *found;
  idle.erase(found);
  return member;
}

// The slot's owner, which is given all of its slots at once, so that they start
// from the same versions whenever its answers come.
Member* AveragingEpoch::owner_for(std::size_t slot, const OpenRound& round) {
  const std::int64_t first = first_of(round, slot);
  const std::int64_t count = batches_of(round, slot);
  const auto owner = [&] {
    Member* member = context_.members.find(context_.slots.owner(slot));
    return member && member->can_work() ? member : nullptr;
  };
  if (const Member* member = owner(); member && !may_do(*member, first, count))
    give_away(slot, first, count);
  Member* const member = owner();
  if (!member || !may_do(*member, first, count) || !reachable(*member) ||
      !follows(*member, round))
    return nullptr;
  // State would end what it works on.
  if (!member->in_step && working(*member)) return nullptr;
  return context_.outgoing.bring_up_to_date(*member) ? member : nullptr;
}

// To one that was not lost with it.
void AveragingEpoch::give_away(std::size_t slot, std::int64_t first,
                               std::int64_t count) {
  for (const Member* member : context_.members.workers())
    if (may_do(*member, first, count))
      return context_.slots.give(slot, member->number);
}

// Whether it will have what the round starts from: in sync the average of the
// round before may stay with its parties.
bool AveragingEpoch::follows(const Member& member,
                             const OpenRound& round) const {
  const OpenRound& before = rounds_.front();
  return !is_sync() || round.version == before.version || before.parties == 0 ||
         std::ranges::count(before.reducers, member.number) > 0;
}

// In sync all may have slots of the next round, which wait for this one.
Member* AveragingEpoch::take_from_next(std::int64_t first, std::int64_t count) {
  if (!is_sync() || rounds_.size() < 2) return nullptr;
  for (Member* member : context_.members.workers()) {
    std::vector<Lease> leases = table_.of(member->number);
    std::erase_if(leases, [&](const Lease& lease) {
      return elsewhere_.contains(lease.id);
    });
    const bool waits = std::ranges::all_of(leases, [&](const Lease& lease) {
      return lease.first >= rounds_.front().end;
    });
    if (!waits || !reachable(*member) || !member->in_step ||
        !may_do(*member, first, count))
      continue;
    for (const Lease& lease : leases) {
      revoke(*member, lease, "the round before is not done", false);
      if (!context_.outgoing.send(*member,
                                  Stale{lease.id, lease.fence}.to_message()))
        return nullptr;
    }
    return member;
  }
  return nullptr;
}

Slot AveragingEpoch::slot_for(const OpenRound& round, std::size_t slot,
                              const Member& member) const {
  Slot result;
  result.index = static_cast<std::int64_t>(slot);
  result.round = round.version;
  result.reducer = reducer_of(round, slot);
  result.parties = round.parties;
  result.slots = static_cast<std::int64_t>(round.slots());
  result.pulled = round.pull.has_value();
  if (!how().keeps_history()) return result;
  result.follows = context_.slots.history(slot, member.number, round.version);
  const OpenRound& before = rounds_.front();
  if (before.version == round.version || slot >= before.slots()) return result;
  for (const Lease& lease : table_.of(member.number))
    if (lease.first == first_of(before, slot)) result.follows = before.version;
  return result;
}

// --- Answers come in --------------------------------------------------------

void AveragingEpoch::take(Member& member, const Message& message) {
  changed_ = changed_ || message.type == MessageType::kFault;
  if (message.type == MessageType::kResult)
    return take_result(member, Result::from_message(message));
  if (message.type == MessageType::kReduced)
    return take_reduced(member, Reduced::from_message(message));
  if (message.type == MessageType::kMean)
    return take_mean(member, Mean::from_message(message));
  if (message.type == MessageType::kSlice)
    return take_slice(member, Slice::from_message(message));
  if (message.type != MessageType::kFault) return refuse_late(member, message);
  const Fault fault = Fault::from_message(message);
  const Lease* held = table_.find(fault.lease, fault.fence);
  if (held && held->worker == member.number) {
    revoke_next(member, *held);
    if (is_sync())
      go_direct(*round_of(*held),
                member.describe() + " gave a slot of it back");
  }
  take_fault(member, fault);
}

void AveragingEpoch::release(Member& member, const std::string& why,
                             bool failed) {
  changed_ = true;
  context_.slots.forget(member.number);
  for (OpenRound& round : rounds_)
    if (std::ranges::count(round.reducers, member.number) > 0)
      go_direct(round, member.describe() + " reduced it: " + why);
  Phase::release(member, why, failed);
  forget_lost_offers();
}

AveragingEpoch::OpenRound* AveragingEpoch::round_of(const Lease& lease) {
  for (OpenRound& round : rounds_)
    if (lease.first >= round.first && lease.first < round.end) return &round;
  throw Error{Code::kBug, "a lease outside of the open rounds"};
}

// The slot's next round goes on from what this lease has not done.
void AveragingEpoch::revoke_next(Member& member, const Lease& lease) {
  const OpenRound& round = *round_of(lease);
  if (rounds_.size() < 2 || round.version != rounds_.front().version) return;
  const std::int64_t next = first_of(rounds_.back(), slot_of(round, lease));
  for (const Lease& later : table_.of(member.number))
    if (later.first == next)
      revoke(member, later, "what it goes on from was not done", false);
}

}  // namespace dl::cluster
