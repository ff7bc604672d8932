#include "libcore/cluster/master/epoch/phase.h"

#include <algorithm>
#include <utility>

#include "libcore/base/failpoint.h"

namespace dl::cluster {

namespace {

std::string range_of(const Lease& lease) {
  if (lease.count == 1) return "mini-batch " + std::to_string(lease.first);
  return "mini-batches " + std::to_string(lease.first) + "-" +
         std::to_string(lease.first + lease.count - 1);
}

}  // namespace

bool Phase::send_task(Member& member, const Lease& lease,
                      std::int64_t iteration, const Slot& slot) {
  Task task;
  task.kind = is_evaluation() ? TaskKind::kEvaluate : TaskKind::kTrain;
  task.lease = lease.id;
  task.fence = lease.fence;
  // Sync's rounds may be open before the one that they start from is over.
  const bool sync = context_.settings.mode == Mode::kSync;
  task.version =
      sync && slot.round > 0 ? slot.round - 1 : context_.state.version;
  task.epoch = context_.state.epoch;
  task.first = lease.first;
  task.count = lease.count;
  task.iteration = iteration;
  if (context_.settings.mode == Mode::kSharing &&
      context_.settings.sharing.combine == Combine::kDiversity)
    task.beside =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(context_.counted));
  if (in_rounds(context_.settings.mode))
    task.factor = context_.state.step_factor;
  task.slot = slot;
  task.feed = context_.feed.number();
  task.careful = lease.careful;
  if (is_evaluation()) {
    task.evaluations = context_.settings.evaluations;
  } else {
    task.without = context_.state.without();
    for (std::int64_t i = lease.first; i < lease.first + lease.count; ++i)
      if (table().is_passed_over(i)) task.passed_over.push_back(i);
  }
  if (!context_.outgoing.send(member, task.to_message())) {
    table().finish(lease.id);
    return false;
  }
  member.moved = context_.now;
  member.leased += static_cast<std::uint64_t>(lease.count);
  ++context_.report.leases;
  Json fields = {{"kind", is_evaluation() ? "evaluate" : "train"},
                 {"lease", lease.id},
                 {"fence", lease.fence},
                 {"worker", member.number},
                 {"epoch", context_.state.epoch},
                 {"first", lease.first},
                 {"count", lease.count}};
  if (lease.twin != 0) fields["copy_of"] = lease.twin;
  context_.events.write("lease", std::move(fields));
  failpoint("master.after_lease");
  return true;
}

void Phase::revoke(Member& member, const Lease& lease, const std::string& why,
                   bool failed) {
  table().finish(lease.id, failed);
  ++context_.report.revoked;
  context_.events.write("revoke", {{"lease", lease.id},
                                   {"fence", lease.fence},
                                   {"worker", member.number},
                                   {"epoch", context_.state.epoch},
                                   {"first", lease.first},
                                   {"count", lease.count},
                                   {"committed", lease.committed},
                                   {"why", why}});
  context_.log(Level::kDetail,
               range_of(lease) + " of " + member.describe() +
                   (lease.twin == 0 ? " go back to the queue: "
                                    : " are left to another: ") +
                   why);
}

void Phase::release(Member& member, const std::string& why, bool failed) {
  for (const Lease& lease : table().of(member.number)) {
    revoke(member, lease, why, failed);
    if (failed) count_loss(member, lease, why);
  }
}

// A worker that was careful had said what it was about to do.
void Phase::count_loss(const Member& member, const Lease& lease,
                       const std::string& why) {
  const bool said = lease.careful && member.lease_at_hand == lease.id;
  for (std::int64_t i = lease.first; i < lease.first + lease.count; ++i) {
    if (table().is_settled(i)) continue;
    const bool at_hand = said && i == member.batch_at_hand;
    losses_.add(i, member, at_hand);
    if (at_hand) blame_data(member, i, why);
  }
}

bool Phase::may_do(const Member& member, std::int64_t first,
                   std::int64_t count) const {
  for (std::int64_t i = first; i < first + count; ++i)
    if (losses_.concern(i) &&
        !losses_.may(member, i, context_.members.workers()))
      return false;
  return true;
}

void Phase::renumber(std::uint64_t, Member&) {}

bool Phase::working(const Member& member) const {
  return table().held_by(member.number) > 0;
}

// In sync others may have its gradients.
std::int64_t Phase::owed_by(const Member& member) const {
  if (context_.settings.mode == Mode::kSync && !is_evaluation()) return 0;
  return working(member) ? table().left_of(member.number) : 0;
}

void Phase::refuse_late(Member& member, const Message& message) {
  const bool sharing = context_.settings.mode == Mode::kSharing;
  if (message.type == MessageType::kUpdate && sharing) {
    const Update late = Update::from_message(message);
    return context_.answers.refuse(member, late.lease, late.fence, late.batch);
  }
  if (message.type == MessageType::kResult && !sharing) {
    const Result late = Result::from_message(message);
    if (late.elsewhere && late.round <= context_.state.version) return;
    return context_.answers.refuse(member, late.lease, late.fence);
  }
  if (message.type == MessageType::kSlice && !sharing)
    return context_.answers.require_given(Slice::from_message(message).lease);
  if (message.type == MessageType::kTaskDone) {
    const TaskDone late = TaskDone::from_message(message);
    return context_.answers.refuse(member, late.lease, late.fence);
  }
  if (message.type == MessageType::kFault)
    return context_.answers.require_given(Fault::from_message(message).lease);
  if (message.type == MessageType::kDigest && sharing)
    return context_.answers.count_digest(member);
  if (message.type == MessageType::kDigest)
    return take_difference(member, Digest::from_message(message));
  if (message.type == MessageType::kReduced && !sharing &&
      context_.feed.keeps() &&
      Reduced::from_message(message).round <= context_.state.version)
    return;
  if (message.type == MessageType::kMean &&
      context_.settings.mode == Mode::kSync &&
      Mean::from_message(message).round <= context_.state.version)
    return;
  throw Error{Code::kProtocol,
              std::string(name_of(message.type)) + ": not expected now"};
}

void Phase::take_difference(Member& member, const Digest& digest) {
  const auto round = context_.round_digests.find(digest.sequence);
  if (round == context_.round_digests.end() || round->second == digest.digest ||
      !digest.statistics.empty() || !digest.updater_state.empty())
    throw Error{Code::kProtocol, "Digest: not of a round, or no other"};
  context_.answers.note_difference(member,
                                   "round " + std::to_string(digest.sequence),
                                   digest.digest, round->second);
  release(member, "its replica differs", false);
}

void Phase::take_fault(Member& member, const Fault& fault) {
  const Lease* lease = table().find(fault.lease, fault.fence);
  if (!lease || lease->worker != member.number)
    return context_.answers.require_given(fault.lease);
  if (fault.batch < lease->first || fault.batch >= lease->first + lease->count)
    throw Error{Code::kProtocol, "Fault: mini-batch " +
                                     std::to_string(fault.batch) +
                                     " is not in its lease"};
  table().finish(fault.lease);
  if (fault.code == 0)
    reject(member, fault.batch, 1, fault.reason);
  else
    take_bad_record(member, fault);
}

}  // namespace dl::cluster
