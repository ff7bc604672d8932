#include "libcore/cluster/sharing_master.h"

#include <algorithm>
#include <cmath>

#include "libcore/exchange/average.h"
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

// Averages one of the vectors of all replicas; empty ones count as absent.
std::vector<float> average(const std::map<std::uint64_t, Drained>& replicas,
                           std::vector<float> Drained::*field,
                           std::vector<float> otherwise) {
  std::vector<const Drained*> parts;
  for (const auto& [number, replica] : replicas)
    if (!(replica.*field).empty() && replica.examples > 0 &&
        (otherwise.empty() || (replica.*field).size() == otherwise.size()) &&
        (parts.empty() ||
         (replica.*field).size() == (parts[0]->*field).size()) &&
        all_finite(replica.*field))
      parts.push_back(&replica);
  if (parts.empty()) return otherwise;
  exchange::Average mean(parts.size(), (parts[0]->*field).size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    mean.put(i, parts[i]->*field, static_cast<double>(parts[i]->examples));
  return mean.result();
}

}  // namespace

SharingEpoch::SharingEpoch(RunContext& context)
    : Phase(context),
      order_(context.training, context.settings.batch, context.settings.seed,
             static_cast<std::uint64_t>(context.state.epoch), true),
      table_(order_.batches(), context.next_lease) {
  table_.restore(context.state.committed);
}

void SharingEpoch::tick() {
  // Replicas start, and start again, from State.
  for (Member* member : context_.members.workers()) {
    if (member->version == context_.state.version || !reachable(*member))
      continue;
    release(*member, "it is sent the state anew", false);
    awaited_.erase(member->number);
    context_.bring_up_to_date(*member);
  }
  if (stage_ == Stage::kTraining) {
    hand_out();
    const bool over = winding_up_ ? table_.leases().empty() : table_.complete();
    if (over) begin_drain();
  }
  if (stage_ != Stage::kDraining) return;
  for (auto it = awaited_.begin(); it != awaited_.end();) {
    const Member* member = context_.members.find(*it);
    const bool gone = !member || !member->can_work();
    it = gone ? awaited_.erase(it) : std::next(it);
  }
  if (awaited_.empty() ||
      context_.now - drain_began_ > context_.limits.stuck_after)
    end_drain();
}

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

void SharingEpoch::take(Member& member, const Message& message) {
  switch (message.type) {
    case MessageType::kUpdate:
      return take_update(member, Update::from_message(message));
    case MessageType::kTaskDone:
      return take_done(member, TaskDone::from_message(message));
    case MessageType::kFault:
      return take_fault(member, Fault::from_message(message));
    case MessageType::kDrained:
      return take_drained(member, Drained::from_message(message));
    default:
      return refuse_late(member, message);
  }
}

std::string SharingEpoch::fault_of(const Update& update) const {
  if (update.examples != order_.examples(update.batch, 1))
    return "it counts " + std::to_string(update.examples) + " examples, not " +
           std::to_string(order_.examples(update.batch, 1));
  if (!std::isfinite(update.loss_sum)) return "its loss is not finite";
  if (!std::isfinite(update.threshold)) return "its threshold is not finite";
  return "";
}

void SharingEpoch::take_update(Member& member, const Update& update) {
  const Lease* held = table_.find(update.lease, update.fence);
  if (!held || held->worker != member.number ||
      !table_.holds(update.lease, update.fence, update.batch, 1))
    return context_.refuse(member, update.lease, update.fence, update.batch);
  const Lease lease = *held;
  std::string why = fault_of(update);
  const auto workers = context_.members.workers().size();
  const float scale =
      context_.settings.sharing.combine == Combine::kMean && workers > 1
          ? 1.0f / static_cast<float>(workers)
          : 1.0f;
  if (why.empty() && !update.payload.empty()) {
    try {
      exchange::decode_threshold(update.payload, -scale,
                                 context_.state.parameters);
    } catch (const Error& error) {
      why = error.what();
    }
  }
  if (!why.empty()) {
    table_.finish(lease.id);
    context_.refuse(member, update.lease, update.fence, update.batch);
    return context_.reject(member, update.batch, why);
  }
  ++context_.state.version;
  context_.state.examples += update.examples;
  context_.state.loss_sum += update.loss_sum;
  if (update.threshold > 0) context_.state.threshold = update.threshold;
  table_.commit(lease.id, lease.fence, update.batch, 1);
  spread(member, update, scale);
  context_.accept(member, lease, update.batch, 1, update.examples,
                  update.loss_sum, update.payload.size());
  if (member.last_commit > 0) {
    const double seconds = context_.now - member.last_commit;
    member.batch_seconds =
        member.batch_seconds > 0
            ? member.batch_seconds + kSmooth * (seconds - member.batch_seconds)
            : seconds;
  }
  member.last_commit = context_.now;
}

// Sends an accepted update to every replica that is up to date.
void SharingEpoch::spread(Member& origin, const Update& update, float scale) {
  Apply apply;
  apply.sequence = context_.state.version;
  apply.scale = scale;
  apply.payload = update.payload;
  const Message for_others = apply.to_message();
  apply.own = true;
  apply.payload.clear();
  const Message for_origin = apply.to_message();
  for (Member* member : context_.members.workers()) {
    if (member->version != context_.state.version - 1) continue;
    const bool own = member == &origin;
    if (context_.send(*member, own ? for_origin : for_others))
      member->version = context_.state.version;
    else
      member->version.reset();  // it missed one: tick() sends it the State
  }
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

// Running statistics as workers last told them.
void SharingEpoch::settle() {
  if (stage_ == Stage::kDone) return;
  std::map<std::uint64_t, Drained> latest;
  for (const Member* member : context_.members.present()) {
    latest[member->number].examples = member->examples;
    latest[member->number].statistics = member->statistics;
  }
  context_.state.statistics = average(latest, &Drained::statistics,
                                      std::move(context_.state.statistics));
}

void SharingEpoch::begin_drain() {
  stage_ = Stage::kDraining;
  drain_began_ = context_.now;
  digest_ = io::digest(std::as_bytes(std::span(context_.state.parameters)));
  EpochEnd message;
  message.epoch = context_.state.epoch;
  message.sequence = context_.state.version;
  message.digest = digest_;
  for (Member* member : context_.members.workers()) {
    if (member->version != context_.state.version) continue;
    if (context_.send(*member, message.to_message()))
      awaited_.insert(member->number);
    else
      member->version.reset();
  }
}

void SharingEpoch::take_drained(Member& member, Drained drained) {
  if (stage_ != Stage::kDraining || drained.epoch != context_.state.epoch ||
      awaited_.erase(member.number) == 0)
    return;
  if (drained.digest != digest_) {
    ++context_.report.resyncs;
    member.version.reset();
    context_.events.write("fault", {{"worker", member.number},
                                    {"epoch", context_.state.epoch},
                                    {"why", "its replica differs"},
                                    {"digest", io::hex(drained.digest)},
                                    {"want", io::hex(digest_)}});
    context_.log(Level::kWarning, "the replica of " + member.describe() +
                                      " differs at the end of epoch " +
                                      std::to_string(context_.state.epoch + 1) +
                                      "; it is sent the state anew");
  }
  drained.examples = member.examples;  // what was committed counts
  drained_[member.number] = std::move(drained);
}

void SharingEpoch::end_drain() {
  stage_ = Stage::kDone;
  RunState& state = context_.state;
  state.statistics =
      average(drained_, &Drained::statistics, std::move(state.statistics));
  state.updater_state = average(drained_, &Drained::updater_state,
                                std::move(state.updater_state));
  double residual = 0, clipped = 0;
  for (const auto& [number, replica] : drained_) {
    residual += replica.residual_norm;
    clipped += replica.clipped;
  }
  context_.events.write("round", {{"epoch", state.epoch},
                                  {"sequence", state.version},
                                  {"digest", io::hex(digest_)},
                                  {"replicas", drained_.size()},
                                  {"residual", residual},
                                  {"clipped", clipped}});
  // Running statistics are averaged: every replica goes on from the average.
  if (!state.statistics.empty())
    for (Member* member : context_.members.present()) member->version.reset();
}

}  // namespace dl::cluster
