#include "libcore/cluster/master/phase.h"

namespace dl::cluster {

void Phase::release(Member& member, const std::string& why, bool failed) {
  for (const Lease& lease : table().of(member.number)) {
    context_.revoke(member, table(), lease, why, failed);
    if (failed && lease.careful) count_loss(member, lease, why);
  }
}

void Phase::renumber(std::uint64_t, Member&) {}

bool Phase::working(const Member& member) const {
  return table().held_by(member.number) > 0;
}

std::int64_t Phase::left() const { return table().free() + table().leased(); }

void Phase::refuse_late(Member& member, const Message& message) {
  const bool sharing = context_.settings.mode == Mode::kSharing;
  if (message.type == MessageType::kUpdate && sharing) {
    const Update late = Update::from_message(message);
    return context_.refuse(member, late.lease, late.fence, late.batch);
  }
  if (message.type == MessageType::kResult && !sharing) {
    const Result late = Result::from_message(message);
    return context_.refuse(member, late.lease, late.fence);
  }
  if (message.type == MessageType::kTaskDone) {
    const TaskDone late = TaskDone::from_message(message);
    return context_.refuse(member, late.lease, late.fence);
  }
  if (message.type == MessageType::kFault)
    return context_.require_given(Fault::from_message(message).lease);
  if (message.type == MessageType::kDigest && sharing)
    return context_.count_digest(member);
  if (message.type == MessageType::kDigest)
    return take_difference(member, Digest::from_message(message));
  if (message.type == MessageType::kReduced && !sharing &&
      context_.feed.keeps() &&
      Reduced::from_message(message).round <= context_.state.version)
    return;
  throw Error{Code::kProtocol,
              std::string(name_of(message.type)) + ": not expected now"};
}

void Phase::take_difference(Member& member, const Digest& digest) {
  const auto round = context_.round_digests.find(digest.sequence);
  if (round == context_.round_digests.end() || round->second == digest.digest ||
      !digest.statistics.empty() || !digest.updater_state.empty())
    throw Error{Code::kProtocol, "Digest: not of a round, or no other"};
  context_.note_difference(member, "round " + std::to_string(digest.sequence),
                           digest.digest, round->second);
  release(member, "its replica differs", false);
}

void Phase::take_fault(Member& member, const Fault& fault) {
  const Lease* lease = table().find(fault.lease, fault.fence);
  if (!lease || lease->worker != member.number)
    return context_.require_given(fault.lease);
  if (fault.batch < lease->first || fault.batch >= lease->first + lease->count)
    throw Error{Code::kProtocol, "Fault: mini-batch " +
                                     std::to_string(fault.batch) +
                                     " is not in its lease"};
  table().finish(fault.lease);
  if (fault.code == 0)
    context_.reject(member, fault.batch, fault.reason);
  else
    take_bad_record(member, fault);
}

}  // namespace dl::cluster
