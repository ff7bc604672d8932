#include "libcore/cluster/sharing_master.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/failpoint.h"
#include "libcore/exchange/threshold.h"
#include "libcore/io/digest.h"

namespace dl::cluster {

namespace {

// A lease is about this long, in seconds, so that little is lost with a
// worker and little time goes into asking.
constexpr double kLeaseSeconds = 1.5;
constexpr std::int64_t kFirstLease = 4;  // while the speed is unknown
constexpr std::int64_t kLongestLease = 64;
constexpr std::size_t kLeasesAhead = 2;  // held by a worker at a time
constexpr double kSmooth = 0.2;

// How long the worker needs for a mini-batch, from one commit to the next.
void measure_speed(Member& member, std::int64_t batches, double now) {
  if (member.last_commit > 0) {
    const double seconds =
        (now - member.last_commit) / static_cast<double>(batches);
    member.batch_seconds =
        member.batch_seconds > 0
            ? member.batch_seconds + kSmooth * (seconds - member.batch_seconds)
            : seconds;
  }
  member.last_commit = now;
}

}  // namespace

SharingEpoch::SharingEpoch(RunContext& context)
    : Phase(context),
      order_(context.training, context.settings.batch, context.settings.seed,
             static_cast<std::uint64_t>(context.state.epoch), true),
      table_(order_.batches(), context.next_lease) {
  table_.restore(context.state.committed);
  for (Member* member : context.members.present()) member->last_commit = 0;
}

void SharingEpoch::tick() {
  bring_up_to_date();
  if (stage_ == Stage::kTraining) {
    hand_out();
    const bool over = winding_up_ ? table_.leases().empty() : table_.complete();
    if (over && !check_) {
      stage_ = Stage::kDraining;
      begin_check();
    }
  }
  if (check_) follow_check();
}

// Replicas start, and start again, from State.
void SharingEpoch::bring_up_to_date() {
  for (Member* member : context_.members.workers()) {
    if (member->version == context_.state.version || !reachable(*member))
      continue;
    release(*member, "it is sent the state anew", false);
    if (check_) check_->forget(member->number);
    context_.bring_up_to_date(*member);
  }
}

void SharingEpoch::take(Member& member, const Message& message) {
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

void SharingEpoch::hand_out() {
  if (winding_up_) return;
  for (Member* member : context_.members.workers()) {
    if (!reachable(*member) || member->version != context_.state.version)
      continue;
    while (table_.of(member->number).size() < kLeasesAhead) {
      const auto lease = table_.grant(member->number, lease_size(*member));
      if (!lease) return;
      const std::int64_t iteration =
          context_.state.epoch * order_.batches() + lease->first;
      if (!context_.hand_out(*member, table_, *lease, TaskKind::kTrain,
                             iteration))
        break;
    }
  }
}

// As long as kLeaseSeconds, but at the end of an epoch small enough that all
// workers end it together.
std::int64_t SharingEpoch::lease_size(const Member& member) const {
  std::int64_t size = kFirstLease;
  if (member.batch_seconds > 0)
    size = static_cast<std::int64_t>(
        std::min(kLeaseSeconds / member.batch_seconds, 1e6));
  const auto workers =
      static_cast<std::int64_t>(context_.members.workers().size());
  const std::int64_t share =
      table_.free() / (2 * std::max<std::int64_t>(workers, 1));
  return std::clamp<std::int64_t>(std::min(size, share), 1, kLongestLease);
}

void SharingEpoch::take_done(Member& member, TaskDone done) {
  const Lease* lease = table_.find(done.lease, done.fence);
  if (!lease || lease->worker != member.number)
    return context_.refuse(member, done.lease, done.fence);
  if (done.statistics.size() == context_.state.statistics.size() &&
      all_finite(done.statistics))
    member.statistics = std::move(done.statistics);
  table_.finish(done.lease);
}

// --- Updates ----------------------------------------------------------------

void SharingEpoch::take_update(Member& member, const Update& update) {
  const Lease* held = table_.find(update.lease, update.fence);
  if (!held || held->worker != member.number ||
      !table_.holds(update.lease, update.fence, update.batch, update.count))
    return context_.refuse(member, update.lease, update.fence, update.batch);
  const Lease lease = *held;
  std::string why = fault_of(update);
  try {
    if (why.empty()) return apply(member, lease, update);
  } catch (const Error& error) {
    if (error.code() != Code::kProtocol) throw;
    why = error.what();
  }
  table_.finish(lease.id);
  context_.refuse(member, update.lease, update.fence, update.batch);
  context_.reject(member, update.batch, why);
}

std::string SharingEpoch::fault_of(const Update& update) const {
  const std::int64_t want = order_.examples(update.batch, update.count);
  if (update.examples != want)
    return "it counts " + std::to_string(update.examples) + " examples, not " +
           std::to_string(want);
  if (update.version > context_.state.version)
    return "it was computed from update " + std::to_string(update.version) +
           ", which is still to come";
  if (!std::isfinite(update.loss_sum)) return "its loss is not finite";
  if (!std::isfinite(update.threshold)) return "its threshold is not finite";
  return "";
}

// Throws Error: kProtocol, it does not decode; then nothing has happened.
void SharingEpoch::apply(Member& origin, const Lease& lease,
                         const Update& update) {
  RunState& state = context_.state;
  const std::uint64_t staleness = state.version - update.version;
  const float scale = scale_of(staleness);
  if (!update.payload.empty())
    exchange::decode_threshold(update.payload, -scale, state.parameters);
  ++state.version;
  state.examples += update.examples;
  state.loss_sum += update.loss_sum;
  if (update.threshold > 0) state.threshold = update.threshold;
  staleness_.add(staleness);
  context_.report.staleness.add(staleness);
  table_.commit(lease.id, lease.fence, update.batch, update.count);
  context_.accept(origin, lease, update.batch, update.count, update.examples,
                  update.loss_sum, update.payload.size(),
                  {{"version", state.version}, {"staleness", staleness}});
  record(origin, update, scale, staleness);
  spread(origin, update, scale);
  measure_speed(origin, update.count, context_.now);
  unchecked_ += update.count;
  const std::int64_t every = context_.settings.sharing.agree_every;
  if (every > 0 && unchecked_ >= every && !check_) begin_check();
}

// What an update is multiplied with: its worth among those of N workers, and
// at its age.
float SharingEpoch::scale_of(std::uint64_t staleness) const {
  const SharingSettings& sharing = context_.settings.sharing;
  const auto workers = static_cast<double>(
      std::max<std::size_t>(context_.members.workers().size(), 1));
  double scale = sharing.staleness_rule.factor(staleness);
  if (sharing.combine == Combine::kMean) scale /= workers;
  if (sharing.combine == Combine::kScaled) scale /= std::sqrt(workers);
  return static_cast<float>(scale);
}

// Writes it to the log, before anybody is told of it.
void SharingEpoch::record(const Member& origin, const Update& update,
                          float scale, std::uint64_t staleness) {
  if (!context_.updates) return;
  LogEntry entry;
  entry.sequence = context_.state.version;
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
  context_.updates->append(entry);
  failpoint("master.after_log");
}

// Sends the update that was applied last to every replica that has those
// before.
void SharingEpoch::spread(const Member& origin, const Update& update,
                          float scale) {
  Apply apply;
  apply.sequence = context_.state.version;
  apply.scale = scale;
  apply.payload = update.payload;
  const Message for_others = apply.to_message();
  apply.own = true;
  apply.batch = update.batch;
  apply.payload.clear();
  const Message for_origin = apply.to_message();
  for (Member* member : context_.members.workers()) {
    if (member->version != context_.state.version - 1) continue;
    const bool own = member->number == origin.number;
    if (context_.send(*member, own ? for_origin : for_others))
      member->version = context_.state.version;
    else
      member->version.reset();  // it missed one: tick() sends it the State
  }
}

// --- Agreement --------------------------------------------------------------

// Asks all replicas what they digest to.  At an epoch's end the one that did
// most is asked for its updater's state as well, for those that join later.
void SharingEpoch::begin_check() {
  const RunState& state = context_.state;
  unchecked_ = 0;
  check_.emplace(state.parameters, state.version, context_.now);
  Check message;
  message.epoch = state.epoch;
  message.sequence = check_->sequence();
  message.digest = check_->digest();
  const Member* busiest = nullptr;
  for (const Member* member : context_.members.workers())
    if (member->version == state.version &&
        (!busiest || member->examples > busiest->examples))
      busiest = member;
  for (Member* member : context_.members.workers()) {
    if (member->version != state.version) continue;
    message.updater_state = stage_ == Stage::kDraining && member == busiest;
    if (context_.send(*member, message.to_message()))
      check_->ask(member->number);
    else
      member->version.reset();
  }
}

void SharingEpoch::take_digest(Member& member, Digest answer) {
  const std::uint64_t digest = answer.digest;
  if (all_finite(answer.updater_state) && !answer.updater_state.empty())
    context_.state.updater_state = std::move(answer.updater_state);
  answer.updater_state.clear();
  if (!check_ ||
      !check_->take(member.number, std::move(answer), member.examples))
    return;
  if (digest == check_->digest()) return;
  ++context_.report.resyncs;
  member.version.reset();
  context_.events.write("fault", {{"worker", member.number},
                                  {"epoch", context_.state.epoch},
                                  {"why", "its replica differs"},
                                  {"digest", io::hex(digest)},
                                  {"want", io::hex(check_->digest())}});
  context_.log(Level::kWarning,
               "the replica of " + member.describe() + " differs at update " +
                   std::to_string(check_->sequence()) + ", epoch " +
                   std::to_string(context_.state.epoch + 1) +
                   "; it is sent the state anew");
}

void SharingEpoch::follow_check() {
  const std::set<std::uint64_t> awaited = check_->awaited();
  for (const std::uint64_t number : awaited) {
    const Member* member = context_.members.find(number);
    if (!member || !member->can_work()) check_->forget(number);
  }
  if (check_->awaited().empty() ||
      context_.now - check_->began() > context_.limits.stuck_after)
    end_check();
}

void SharingEpoch::end_check() {
  RunState& state = context_.state;
  double residual = 0, clipped = 0;
  for (const auto& [number, answer] : check_->answers()) {
    residual += answer.digest.residual_norm;
    clipped += answer.digest.clipped;
  }
  context_.events.write("round", {{"epoch", state.epoch},
                                  {"sequence", check_->sequence()},
                                  {"digest", io::hex(check_->digest())},
                                  {"replicas", check_->answers().size()},
                                  {"residual", residual},
                                  {"clipped", clipped},
                                  {"staleness", staleness_.to_json()}});
  state.statistics = check_->statistics(std::move(state.statistics));
  check_.reset();
  if (stage_ == Stage::kDraining) stage_ = Stage::kDone;
  // Running statistics are averaged: every replica goes on from the average.
  if (state.statistics.empty()) return;
  const Message message = Statistics{state.statistics}.to_message();
  for (Member* member : context_.members.present())
    if (member->version && !context_.send(*member, message))
      member->version.reset();
}

// Running statistics as workers last told them.
void SharingEpoch::settle() {
  if (stage_ == Stage::kDone) return;
  std::vector<Weighted> latest;
  for (const Member* member : context_.members.present())
    latest.push_back({&member->statistics, member->examples});
  context_.state.statistics =
      weighted_mean(std::move(latest), std::move(context_.state.statistics));
}

}  // namespace dl::cluster
