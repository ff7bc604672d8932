#include "libcore/cluster/master/epoch/sharing/sharing_master.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/failpoint.h"
#include "libcore/cluster/master/members/stragglers.h"
#include "libcore/cluster/run_dir/update_step.h"

namespace dl::cluster {

namespace {

// A lease is about this long, in seconds, so that little is lost with a
// worker and little time goes into asking.
constexpr double kLeaseSeconds = 1.5;
constexpr std::int64_t kFirstLease = 4;  // while the speed is unknown
constexpr std::int64_t kLongestLease = 64;
constexpr std::int64_t kLeasesAhead = 2;  // held by a worker at a time

}  // namespace

SharingEpoch::SharingEpoch(RunContext& context)
    : Phase(context),
      order_(context.training.without(context.state.without()),
             context.settings.batch, context.settings.seed,
             static_cast<std::uint64_t>(context.state.epoch), true),
      table_(order_.batches(), context.next_lease) {
  table_.restore(context.state.committed);
  condemn_bad();
  context.update_check.start_from(context.state.threshold);
  const Settings& settings = context.settings;
  if (!settings.sharing.staleness) return;
  const auto there =
      static_cast<std::int64_t>(context.members.counted().size());
  rounds_.emplace(
      *settings.sharing.staleness,
      std::max<std::int64_t>(
          settings.averaging.workers > 0 ? settings.averaging.workers : there,
          1),
      context.sharing_owners);
}

// All members are looked at some times a second, and as the bound moves that
// some wait for; else those that said something.
void SharingEpoch::tick() {
  const bool all = bound_moves() || context_.now >= next_look_;
  if (all) bring_up_to_date();
  if (all)
    next_look_ = context_.now + kLookForMember * static_cast<double>(workers_);
  if (stage_ == Stage::kTraining) {
    hand_out(all);
    const bool over = winding_up_ ? table_.leases().empty() : table_.complete();
    if (over && !check_) {
      stage_ = Stage::kDraining;
      begin_check();
    }
  }
  if (check_ && (all || check_->awaited().empty())) follow_check();
}

bool SharingEpoch::bound_moves() {
  if (!rounds_) return false;
  const std::int64_t limit = rounds_->limit(table_.prefix());
  return std::exchange(limit_, limit) != limit;
}

// Replicas start, and start again, from State.
void SharingEpoch::bring_up_to_date() {
  const std::vector<Member*> workers = context_.members.workers();
  workers_ = context_.counted = context_.members.counted().size();
  for (Member* member : workers) {
    if (member->in_step || !reachable(*member)) continue;
    release(*member, "it is sent the state anew", false);
    if (context_.outgoing.bring_up_to_date(*member) && ask_again(*member))
      continue;
    if (check_) check_->forget(member->number);
  }
}

void SharingEpoch::take(Member& member, const Message& message) {
  spoke_.insert(member.number);
  switch (message.type) {
    case MessageType::kUpdate:
      return take_update(member, Update::from_message(message));
    case MessageType::kTaskDone:
      return take_done(member, TaskDone::from_message(message));
    case MessageType::kFault:
      return take_fault(member, Fault::from_message(message));
    case MessageType::kDigest:
      return take_digest(member, Digest::from_message(message));
    default:
      return refuse_late(member, message);
  }
}

// --- Work -------------------------------------------------------------------

// all: to everybody who has room, else to those that said something.
void SharingEpoch::hand_out(bool all) {
  const std::set<std::uint64_t> spoke = std::exchange(spoke_, {});
  if (winding_up_) return;
  if (all && rounds_) {
    hand_out_rounds();
  } else if (all) {
    hand_out_freely();
  } else if (rounds_ && rounds_->synchronous()) {
    const std::int64_t first = table_.prefix();
    const std::int64_t end = std::min(limit_, table_.batches());
    if (table_.any_free(first, std::max<std::int64_t>(0, end - first)))
      hand_out_rounds();
  } else {
    for (const std::uint64_t number : spoke)
      if (Member* member = context_.members.find(number)) fill(*member);
  }
  if (all) speculate();
}

// With a bound one mini-batch at a time, as far as that goes.
void SharingEpoch::fill(Member& member) {
  while (rounds_ && has_room(member))
    if (!grant(member, next_for(member, 1, limit_))) return;
  while (has_room(member)) {
    const std::int64_t size = lease_size(member);
    if (size == 0 || !grant(member, next_for(member, size))) return;
  }
}

void SharingEpoch::hand_out_freely() {
  const std::vector<Member*> workers = context_.members.workers();
  if (workers.empty()) return;
  const double end = seconds_left(workers);  // whoever gets what is free
  share_ = workers.size();
  ends_ = end > 0 ? context_.now + end : 0;
  for (Member* member : workers) fill(*member);
  // Gives work that would be late from anybody to those who would finish it
  // first.
  const auto finish = [&](const Member* m) {
    return static_cast<double>(table_.left_of(m->number) + 1) *
           m->batch_seconds;
  };
  while (end > 0 && table_.any_free()) {
    Member* first = *std::ranges::min_element(workers, {}, finish);
    if (!has_room(*first) || !grant(*first, next_for(*first, 1))) return;
  }
}

// At the end of an epoch, or of what the bound lets anybody begin.  Not where
// the result depends on who trains what.
void SharingEpoch::speculate() {
  if (rounds_ ? rounds_->synchronous() : table_.any_free()) return;
  if (!context_.limits.speculate) return;
  const Medians medians(context_.members.workers());
  const auto usual = [&](const Member& member) {
    return medians.of_others(member);
  };
  for (const Lease& lease : overdue(usual)) {
    Member* member = idle_worker();
    if (!member) return;
    grant(*member, table_.copy(lease.id, member->number));
  }
}

void SharingEpoch::hand_out_rounds() {
  // Running statistics must not change at a time that nobody foresees.
  if (check_ && rounds_->synchronous()) return;
  const std::vector<Member*> workers = context_.members.workers();
  if (!rounds_->synchronous()) {
    for (Member* member : workers) fill(*member);
    return;
  }
  // Nobody gets the slots of one that is on its way back.
  std::vector<std::uint64_t> numbers;
  for (const Member* member : context_.members.counted())
    numbers.push_back(member->number);
  rounds_->assign(numbers);
  const std::int64_t end = std::min(limit_, table_.batches());
  for (std::int64_t b = table_.prefix(); b < end; ++b)
    if (Member* member = who_does(b, workers); member && has_room(*member))
      grant(*member, table_.grant_at(member->number, b, 1));
}

// Its owner, unless that may die of it as another has.
Member* SharingEpoch::who_does(std::int64_t batch,
                               const std::vector<Member*>& workers) {
  Member* const owner = context_.members.find(rounds_->owner(batch));
  if (!owner || may_do(*owner, batch)) return owner;
  const auto other = std::ranges::find_if(
      workers, [&](const Member* member) { return may_do(*member, batch); });
  return other == workers.end() ? owner : *other;
}

std::optional<Lease> SharingEpoch::next_for(const Member& member,
                                            std::int64_t most,
                                            std::int64_t end) {
  return table_.grant(member.number, most, end, [&](std::int64_t batch) {
    return may_do(member, batch);
  });
}

bool SharingEpoch::has_room(const Member& member) const {
  return reachable(member) && member.in_step &&
         leases_to_do(member) < kLeasesAhead;
}

// But for those whose update is held until its round is complete.
std::int64_t SharingEpoch::leases_to_do(const Member& member) const {
  const auto leases = static_cast<std::int64_t>(table_.held_by(member.number));
  return rounds_ ? leases - rounds_->held_by(member.number) : leases;
}

std::int64_t SharingEpoch::owed_by(const Member& member) const {
  if (leases_to_do(member) == 0) return 0;
  return std::min(context_.settings.sharing.push,
                  table_.left_of(member.number));
}

// False: there is no lease, or it did not go out.
bool SharingEpoch::grant(Member& member, const std::optional<Lease>& lease) {
  if (!lease) return false;
  if (leases_to_do(member) == 1) note_begun(member, context_.now);
  const bool in_order = rounds_ && rounds_->synchronous();
  return send_task(member, *lease,
                   in_order ? iteration_of(lease->first) : steps());
}

// Updater steps before the mini-batch, if they are taken in order; counted as
// if no shard was left out.
std::int64_t SharingEpoch::iteration_of(std::int64_t batch) const {
  return context_.state.epoch *
             context_.training.batches(context_.settings.batch) +
         batch;
}

// As long as kLeaseSeconds, but at the end of an epoch, which is so many
// seconds away, so small that all workers end it together.  0: it would come
// late with even one mini-batch.
std::int64_t SharingEpoch::lease_size(const Member& member) const {
  std::int64_t size = std::max<std::int64_t>(
      1, table_.free() / (2 * static_cast<std::int64_t>(share_)));
  if (!(member.batch_seconds > 0)) return std::min(size, kFirstLease);
  const auto batches = [&](double seconds) {
    return static_cast<std::int64_t>(
        std::min(seconds / member.batch_seconds, 1e6));
  };
  size = std::min(
      {size, kLongestLease, std::max<std::int64_t>(1, batches(kLeaseSeconds))});
  if (!(ends_ > 0)) return size;
  const std::int64_t fits = batches(std::max(0.0, ends_ - context_.now)) -
                            table_.left_of(member.number);
  return std::clamp<std::int64_t>(fits, 0, size);
}

// Until all have done what is leased and free, if each has a fair share of it;
// 0: a speed is not known yet.
double SharingEpoch::seconds_left(const std::vector<Member*>& workers) const {
  double speed = 0;
  auto left = static_cast<double>(table_.free());
  for (const Member* worker : workers) {
    if (!(worker->batch_seconds > 0)) return 0;
    speed += 1 / worker->batch_seconds;
    left += static_cast<double>(table_.left_of(worker->number));
  }
  return left / speed;
}

// Work held back by a bound would wait for mini-batches that nobody is given
// any more.
void SharingEpoch::wind_up() {
  Phase::wind_up();
  if (!rounds_) return;
  for (const SharingRounds::Held& held : rounds_->give_up())
    if (Member* member = context_.members.find(held.worker))
      context_.answers.refuse(*member, held.update.lease, held.update.fence,
                              held.update.batch);
  for (Member* member : context_.members.present())
    for (const Lease& lease : table_.of(member->number)) {
      Stale message;
      message.lease = lease.id;
      message.fence = lease.fence;
      context_.outgoing.send(*member, message.to_message());
      revoke(*member, lease, "the run stops", false);
    }
}

void SharingEpoch::take_done(Member& member, TaskDone done) {
  const Lease* lease = table_.find(done.lease, done.fence);
  if (!lease || lease->worker != member.number)
    return context_.answers.refuse(member, done.lease, done.fence);
  if (done.statistics.size() != context_.state.statistics.size() ||
      !done.evaluations.empty() ||
      done.examples != order_.examples(lease->first, lease->count))
    throw Error{Code::kProtocol, "TaskDone: it does not fit its Task"};
  if (all_finite(done.statistics))
    member.statistics = std::move(done.statistics);
  if (!rounds_ || !rounds_->mark_done(done.lease)) table_.finish(done.lease);
}

// --- Updates ----------------------------------------------------------------

void SharingEpoch::take_update(Member& member, Update update) {
  const Lease* held = table_.find(update.lease, update.fence);
  if (!held || held->worker != member.number ||
      !table_.holds(update.lease, update.fence, update.batch, update.count))
    return context_.answers.refuse(member, update.lease, update.fence,
                                   update.batch);
  note_trained(member, update.count, context_.now);
  if (!rounds_ || !rounds_->synchronous())
    return apply_or_reject(member, update, context_.state.version);
  rounds_->hold(member.number, std::move(update));
  apply_round();
}

// All updates of a synchronous round come from the same parameters: none of
// them is stale.
void SharingEpoch::apply_round() {
  const std::uint64_t newest = context_.state.version;
  const std::vector<SharingRounds::Held> round = rounds_->complete(table_);
  compare_round(round);
  for (const SharingRounds::Held& held : round) {
    Member* member = context_.members.find(held.worker);
    require(member != nullptr, "an update of nobody");  // it holds the lease
    apply_or_reject(*member, held.update, newest);
    if (held.done) table_.finish(held.update.lease);
  }
}

// newest: the update up to which its staleness counts.
void SharingEpoch::apply_or_reject(Member& origin, const Update& update,
                                   std::uint64_t newest) {
  const std::uint64_t staleness = newest - std::min(update.version, newest);
  const double most = scale_of(staleness);
  const std::string why = fault_of(update, static_cast<float>(most));
  if (why.empty()) {
    const bool round = rounds_ && rounds_->synchronous();
    double worth = 1;
    if (!round && workers_ > 1 && !update.payload.empty())
      if (exchange::GradientDiversity* diversity = measured_diversity()) {
        diversity->add(update.payload, staleness);
        worth = diversity->share_of_size();
      }
    worth *= worth_of(update, round ? beside_ : staleness);
    context_.report.worth += share_of(staleness) * worth;
    return apply(origin, update, static_cast<float>(most * worth), staleness);
  }
  table_.finish(update.lease);
  context_.answers.refuse(origin, update.lease, update.fence, update.batch);
  reject(origin, update.batch, update.count, why);
}

// Nothing of an update that has a fault is applied, committed or logged.
std::string SharingEpoch::fault_of(const Update& update, float scale) {
  const std::int64_t want = order_.examples(update.batch, update.count);
  if (update.examples != want)
    return "it counts " + std::to_string(update.examples) + " examples, not " +
           std::to_string(want);
  if (update.version > context_.state.version)
    return "it was computed from update " + std::to_string(update.version) +
           ", which is still to come";
  if (!sound_loss(update.loss_sum, update.examples))
    return "its loss is not finite";
  const RunState& state = context_.state;
  const double growth = state.fasgd ? exchange::kFasgdGrowth : 1;
  return context_.update_check.fault_of(
      update, growth * std::fabs(static_cast<double>(scale)), state.parameters);
}

void SharingEpoch::apply(Member& origin, const Update& update, float scale,
                         std::uint64_t staleness) {
  RunState& state = context_.state;
  const Lease lease = *table_.find(update.lease, update.fence);
  const LogEntry entry = entry_of(origin, update, scale, staleness);
  apply_update(entry, context_.update_check.mass().size, state);
  context_.update_check.accepted(update);
  context_.report.applied.add(context_.update_check.mass());
  if (update.examples > 0)
    context_.caution.add(update.loss_sum / static_cast<double>(update.examples),
                         staleness);
  staleness_.add(staleness);
  context_.report.staleness.add(staleness);
  context_.report.exchange.applied(origin.number, staleness);
  table_.commit(lease.id, lease.fence, update.batch, update.count);
  losses_.settle(update.batch, update.count);
  end_twin(lease);
  context_.answers.accept(
      origin, lease, update.batch, update.count, update.examples,
      update.loss_sum, update.payload.size(),
      {{"version", state.version}, {"staleness", staleness}});
  if (context_.updates) {  // before anybody is told of it
    context_.updates->append(entry);
    failpoint("master.after_log");
  }
  spread(origin, update, scale);
  unchecked_ += update.count;
  const std::int64_t every = context_.settings.sharing.agree_every;
  if (every > 0 && unchecked_ >= every && !check_) begin_check();
}

// Worth of an update among those of N workers, and at its age.
double SharingEpoch::share_of(std::uint64_t staleness) const {
  const SharingSettings& sharing = context_.settings.sharing;
  const double share = sharing.staleness_rule.factor(staleness);
  const auto workers = static_cast<double>(std::max<std::size_t>(workers_, 1));
  if (sharing.combine == Combine::kMean) return share / workers;
  if (sharing.combine == Combine::kScaled) return share / std::sqrt(workers);
  return share;
}

// Factor of an update, without the part for what it has in common with others;
// of a gradient, with the learning rate.
double SharingEpoch::scale_of(std::uint64_t staleness) const {
  double scale = context_.state.step_factor * share_of(staleness);
  const std::int64_t epoch = context_.state.epoch;
  if (context_.shared_updater)
    scale *= context_.shared_updater->learning_rate.at(steps(), epoch);
  return scale;
}

// 0..1: what it is worth beside others that it was computed without.  In a
// synchronous round that follows from the round alone.
double SharingEpoch::worth_of(const Update& update,
                              std::uint64_t others) const {
  const auto& diversity = context_.diversity;
  if (!diversity || others == 0 || update.payload.empty()) return 1;
  const double least = beside_ > 0 ? 0 : context_.caution.correlation();
  return exchange::GradientDiversity::of(
      std::max(least, diversity->correlation()), others);
}

// Null: it does not count.  Memory for it is taken when it is first needed.
exchange::GradientDiversity* SharingEpoch::measured_diversity() {
  if (context_.settings.sharing.combine != Combine::kDiversity) return nullptr;
  if (!context_.diversity)
    context_.diversity.emplace(context_.state.parameters.size());
  return &*context_.diversity;
}

// The correlation in a synchronous round follows from its updates alone, so
// that a run gives the same bits when it is resumed.
void SharingEpoch::compare_round(
    const std::vector<SharingRounds::Held>& round) {
  exchange::GradientDiversity* diversity = measured_diversity();
  if (!diversity) return;
  diversity->forget();
  std::uint64_t before = 0;
  for (const SharingRounds::Held& held : round) {
    const Update& update = held.update;
    const auto most = static_cast<float>(scale_of(0));
    if (!update.payload.empty() && fault_of(update, most).empty())
      diversity->add(update.payload, before++);
  }
  beside_ = before > 0 ? before - 1 : 0;
}

// The next update of the run, as the log keeps it.
LogEntry SharingEpoch::entry_of(const Member& origin, const Update& update,
                                float scale, std::uint64_t staleness) const {
  LogEntry entry;
  entry.sequence = context_.state.version + 1;
  entry.epoch = context_.state.epoch;
  entry.first = update.batch;
  entry.count = update.count;
  entry.examples = update.examples;
  entry.loss_sum = update.loss_sum;
  entry.threshold = update.threshold;
  entry.worker = origin.number;
  entry.staleness = staleness;
  entry.scale = scale;
  entry.payload = update.payload;
  return entry;
}

// Tells everybody of the update that was applied last; tick() sends the State
// to those who miss it.
void SharingEpoch::spread(const Member& origin, const Update& update,
                          float scale) {
  Apply apply;
  apply.sequence = context_.state.version;
  apply.origin = origin.number;
  apply.epoch = context_.state.epoch;
  apply.batch = update.batch;
  apply.scale = scale;
  apply.iteration = steps();
  const Message for_origin = apply.to_message();
  apply.payload = update.payload;
  context_.outgoing.tell_all(apply.to_message(), origin.number, for_origin);
}

}  // namespace dl::cluster
