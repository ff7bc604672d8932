#include "libcore/cluster/master/link/result_handler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "libcore/base/failpoint.h"
#include "libcore/cluster/master/run_context.h"
#include "libcore/io/hex.h"

namespace dl::cluster {

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](float v) { return std::isfinite(v); });
}

bool sound_loss(double loss_sum, std::int64_t examples) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return std::fabs(loss_sum) <= kMost * static_cast<double>(examples);
}

void ResultHandler::note_fault(const Member& member, std::int64_t batch,
                               const std::string& why) {
  ++context_.report.rejected;
  Json fields = {
      {"worker", member.number}, {"epoch", context_.state.epoch}, {"why", why}};
  if (batch >= 0) fields["first"] = batch;
  context_.events.write("fault", std::move(fields));
}

// Two workers, or the only one, have no finite answer, or what is accepted is
// as wrong: not one host is at fault.  Nor is one mini-batch where several are
// without an answer, or where it stands for a slot of a round: the parameters
// are.
bool ResultHandler::nobody_can_train(std::int64_t batch, Code code) {
  constexpr std::size_t kFew = 2;
  if (code != Code::kConfig) return false;
  if (context_.state.watch.is_worse_than_chance()) return true;
  std::set<std::uint64_t> parties, failing;
  for (const Member* member : context_.members.workers()) {
    parties.insert(member->party());
    if (std::cmp_greater_equal(member->rejections, kFew))
      failing.insert(member->party());
  }
  const std::size_t few = std::min(kFew, parties.size());
  if (in_rounds(context_.settings.mode) && batch >= 0 &&
      doubts_[batch].size() >= few)
    return true;
  return doubts_.size() >= kFew && failing.size() >= few;
}

void ResultHandler::forgive() {
  context_.gone_wrong.reset();
  doubts_.clear();
  for (Member* member : context_.members.present()) {
    member->rejections = 0;
    member->faulty = false;
  }
}

void ResultHandler::reject(Member& member, std::int64_t batch,
                           const std::string& why, Code code) {
  note_fault(member, batch, why);
  ++member.rejections;
  if (batch < 0) ++member.violations;
  const std::string where =
      batch < 0 ? "a message"
                : "mini-batch " + std::to_string(batch) + " of epoch " +
                      std::to_string(context_.state.epoch + 1);
  if (std::exchange(doubts_epoch_, context_.state.epoch) !=
      context_.state.epoch)
    doubts_.clear();
  if (batch >= 0) doubts_[batch].insert(member.party());
  const bool all_fail = batch >= 0 && doubts_[batch].size() >= kMostDoubts;
  const int times = std::max(member.rejections, member.violations);
  const bool too_often = times >= kMostRejections;
  if (all_fail || too_often) {
    const std::string what =
        (all_fail ? "the answers of " + std::to_string(kMostDoubts) + " workers"
                  : std::to_string(times) + " answers of a worker") +
        " were rejected, the last one for " + where + " from " +
        member.describe() + ": " + why;
    if (nobody_can_train(batch, code)) {
      context_.gone_wrong = Error{code, what};
      return;
    }
    if (all_fail || !anybody_but(member))
      throw Error{code, what + (code == Code::kConfig
                                    ? kRejectionRemedy
                                    : "; look at the storage of the data")};
  }
  if (const auto others = rejections_told_.tell(context_.now))
    context_.log(Level::kWarning,
                 where + " from " + member.describe() + " rejected: " + why +
                     (batch < 0 ? "" : "; it is done again") + *others);
  member.faulty = too_often;
  if (anybody_but(member)) member.retry = context_.now + kRetry;
}

void ResultHandler::accept(Member& member, const Lease& lease,
                           std::int64_t first, std::int64_t count,
                           std::int64_t examples, double loss_sum,
                           std::size_t bytes, const Json& more) {
  member.rejections = 0;
  member.proven = true;
  if (examples > 0)
    context_.told_losses.add(member.number, context_.state.version, loss_sum,
                             examples);
  member.examples += examples;
  context_.report.batches += static_cast<std::uint64_t>(count);
  context_.report.batches_of[member.hello.name] += count;
  context_.report.payload += bytes;
  Json fields = {{"lease", lease.id},
                 {"fence", lease.fence},
                 {"worker", member.number},
                 {"epoch", context_.state.epoch},
                 {"first", first},
                 {"count", count},
                 {"examples", examples},
                 {"loss", loss_sum / static_cast<double>(examples)},
                 {"bytes", bytes}};
  fields.update(more);
  context_.events.write("commit", std::move(fields));
  failpoint("master.after_commit");
}

void ResultHandler::refuse(Member& member, std::uint64_t lease,
                           std::uint64_t fence, std::int64_t batch) {
  require_given(lease);
  ++context_.report.stale;
  Json fields = {{"lease", lease},
                 {"fence", fence},
                 {"worker", member.number},
                 {"epoch", context_.state.epoch}};
  if (batch >= 0) fields["first"] = batch;
  context_.events.write("stale", std::move(fields));
  Stale message;
  message.lease = lease;
  message.fence = fence;
  message.batch = batch;
  context_.outgoing.send(member, message.to_message());
}

void ResultHandler::require_given(std::uint64_t lease) const {
  if (lease == 0 || lease >= context_.next_lease)
    throw Error{Code::kProtocol,
                "lease " + std::to_string(lease) + " was given to nobody"};
}

// In a tree, a Check reaches those as well that are out of step.
void ResultHandler::count_digest(Member& member) const {
  if (member.digests >= context_.checks)
    throw Error{Code::kProtocol, "Digest: nobody asked for it"};
  ++member.digests;
}

void ResultHandler::note_difference(Member& member, const std::string& what,
                                    std::uint64_t digest, std::uint64_t want) {
  ++context_.report.resyncs;
  member.in_step = false;
  context_.events.write("fault", {{"worker", member.number},
                                  {"epoch", context_.state.epoch},
                                  {"why", "its replica differs"},
                                  {"digest", io::hex(digest)},
                                  {"want", io::hex(want)}});
  context_.log(Level::kWarning, "the replica of " + member.describe() +
                                    " differs at " + what + ", epoch " +
                                    std::to_string(context_.state.epoch + 1) +
                                    "; it is sent the state anew");
}

bool ResultHandler::anybody_but(const Member& member) {
  return std::ranges::any_of(
      context_.members.workers(),
      [&](const Member* other) { return other->number != member.number; });
}

}  // namespace dl::cluster
