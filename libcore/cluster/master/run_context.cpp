#include "libcore/cluster/master/run_context.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "libcore/base/failpoint.h"
#include "libcore/cluster/protocol/message_limits.h"
#include "libcore/io/digest.h"

namespace dl::cluster {

namespace {

constexpr double kRetry = 0.25;  // seconds after what went wrong with a worker

std::string range_of(const Lease& lease) {
  if (lease.count == 1) return "mini-batch " + std::to_string(lease.first);
  return "mini-batches " + std::to_string(lease.first) + "-" +
         std::to_string(lease.first + lease.count - 1);
}

}  // namespace

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](float v) { return std::isfinite(v); });
}

bool sound_loss(double loss_sum, std::int64_t examples) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return std::fabs(loss_sum) <= kMost * static_cast<double>(examples);
}

RunContext::RunContext(Settings the_settings, Limits the_limits,
                       std::string the_run, std::uint64_t the_incarnation,
                       EventLog& the_events, MasterLink& the_link, Log the_log)
    : settings(std::move(the_settings)),
      limits(the_limits),
      run(std::move(the_run)),
      incarnation(the_incarnation),
      events(the_events),
      link(the_link),
      log(std::move(the_log)),
      update_check(settings.sharing.threshold) {}

bool RunContext::send(Member& member, const Message& message,
                      std::uint64_t feed_number) {
  const Envelope envelope{run, member.number, incarnation, ++sequence_,
                          feed_number};
  if (link.send(member.peer, message, envelope)) return true;
  member.retry = now + kRetry;
  return false;
}

std::vector<Member*> RunContext::tell_all(const Message& message) {
  return tell_all(message, 0, message);
}

std::vector<Member*> RunContext::tell_all(const Message& message,
                                          std::uint64_t origin,
                                          const Message& for_origin) {
  check_sender(message.type, kFromParent);  // as it is in a tree
  const std::uint64_t number = feed.add(message);
  std::vector<Member*> missed;
  for (Member* member : members.fed_by_master()) {
    if (!member->in_step) continue;
    // In a tree it goes on to the member's children.
    const bool own = member->number == origin && !feed.keeps();
    if (send(*member, own ? for_origin : message, number)) continue;
    member->in_step = false;
    missed.push_back(member);
  }
  return missed;
}

void RunContext::refill(Member& member, std::uint64_t after,
                        std::uint64_t upto) {
  if (!member.in_step) return;
  bool sent = true;
  const auto send_one = [&](const FeedItem& item) {
    sent = sent && send(member, item.message, item.number);
  };
  if (!feed.visit(after, upto, send_one) || !sent) member.in_step = false;
}

void RunContext::unseat(Member& member) {
  if (member.seat.parent == 0) return;
  member.seat.parent = 0;
  members.set_feeder(member, 0);
  send(member, Place{}.to_message());
}

bool RunContext::bring_up_to_date(Member& member) {
  if (member.in_step) return true;
  // The State has what waits of the feed; and while it would have to wait
  // itself, it would only grow old.
  link.forget_feed(member.peer);
  if (!link.idle(member.peer)) {
    member.retry = now + kRetry;
    return false;
  }
  if (catch_up(member)) return true;
  // What else comes to it must not be ahead of the State.
  unseat(member);
  State message;
  message.version = state.version;
  message.threshold = state.threshold;
  message.averages = averages;
  message.setbacks = static_cast<std::uint64_t>(state.setbacks);
  message.parameters = state.parameters;
  message.statistics = state.statistics;
  message.updater_state = state.updater_state;
  message.velocity = state.velocity;
  if (state.fasgd) message.fasgd = state.fasgd->state();
  if (!send(member, message.to_message(), feed.number())) return false;
  member.in_step = true;
  return true;
}

bool RunContext::catch_up(Member& member) {
  const std::string had = std::exchange(member.had.run, "");
  if (!updates || had.empty()) return false;
  bool sent = true;
  const auto send_one = [&](const LogEntry& entry) {
    Apply apply;
    apply.sequence = entry.sequence;
    apply.epoch = entry.epoch;
    apply.batch = entry.first;
    apply.scale = entry.scale;
    apply.payload.assign(entry.payload.begin(), entry.payload.end());
    sent = sent && send(member, apply.to_message());
  };
  const std::size_t most = sizeof(float) * state.parameters.size();
  try {
    if (!updates->visit_after(had, member.had.version, state.version, most,
                              send_one))
      return false;
  } catch (const Error& error) {
    log(Level::kWarning, error.what());
    return false;
  }
  // Running statistics are averaged outside of the log.
  State there;
  there.version = state.version;
  there.averages = averages;
  there.setbacks = static_cast<std::uint64_t>(state.setbacks);
  there.statistics = state.statistics;
  if (!sent || !send(member, there.to_message(), feed.number())) return false;
  member.in_step = true;
  events.write("catch_up", {{"worker", member.number},
                            {"epoch", state.epoch},
                            {"from", member.had.version},
                            {"version", state.version}});
  return true;
}

void RunContext::note_exchange(const Member& member, const Json& exchange) {
  report.exchange.take(member.number, ExchangeStats::from_json(exchange));
  write_exchange(member.number, false);
}

void RunContext::write_exchange(std::uint64_t worker, bool all) {
  auto event = report.exchange.event(worker, now, all);
  if (!event) return;
  (*event)["epoch"] = state.epoch;
  events.write("exchange", std::move(*event));
}

bool RunContext::hand_out(Member& member, LeaseTable& table, const Lease& lease,
                          TaskKind kind, std::int64_t iteration,
                          const Slot& slot) {
  Task task;
  task.kind = kind;
  task.lease = lease.id;
  task.fence = lease.fence;
  task.version = state.version;
  task.epoch = state.epoch;
  task.first = lease.first;
  task.count = lease.count;
  task.iteration = iteration;
  if (settings.mode == Mode::kSharing &&
      settings.sharing.combine == Combine::kDiversity)
    task.beside = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(members.counted().size()));
  if (settings.mode == Mode::kAveraging) task.factor = state.step_factor;
  task.slot = slot;
  task.feed = feed.number();
  task.careful = lease.careful;
  if (kind == TaskKind::kEvaluate) {
    task.evaluations = settings.evaluations;
  } else {
    task.without = state.without();
    for (std::int64_t i = lease.first; i < lease.first + lease.count; ++i)
      if (table.is_passed_over(i)) task.passed_over.push_back(i);
  }
  if (!send(member, task.to_message())) {
    table.finish(lease.id);
    return false;
  }
  member.moved = now;
  member.leased += static_cast<std::uint64_t>(lease.count);
  ++report.leases;
  Json fields = {{"kind", kind == TaskKind::kTrain ? "train" : "evaluate"},
                 {"lease", lease.id},
                 {"fence", lease.fence},
                 {"worker", member.number},
                 {"epoch", state.epoch},
                 {"first", lease.first},
                 {"count", lease.count}};
  if (lease.twin != 0) fields["copy_of"] = lease.twin;
  events.write("lease", std::move(fields));
  failpoint("master.after_lease");
  return true;
}

void RunContext::revoke(Member& member, LeaseTable& table, const Lease& lease,
                        const std::string& why, bool failed) {
  table.finish(lease.id, failed);
  ++report.revoked;
  events.write("revoke", {{"lease", lease.id},
                          {"fence", lease.fence},
                          {"worker", member.number},
                          {"epoch", state.epoch},
                          {"first", lease.first},
                          {"count", lease.count},
                          {"committed", lease.committed},
                          {"why", why}});
  log(Level::kDetail, range_of(lease) + " of " + member.describe() +
                          (lease.twin == 0 ? " go back to the queue: "
                                           : " are left to another: ") +
                          why);
}

void RunContext::refuse(Member& member, std::uint64_t lease,
                        std::uint64_t fence, std::int64_t batch) {
  require_given(lease);
  ++report.stale;
  Json fields = {{"lease", lease},
                 {"fence", fence},
                 {"worker", member.number},
                 {"epoch", state.epoch}};
  if (batch >= 0) fields["first"] = batch;
  events.write("stale", std::move(fields));
  Stale message;
  message.lease = lease;
  message.fence = fence;
  message.batch = batch;
  send(member, message.to_message());
}

void RunContext::require_given(std::uint64_t lease) const {
  if (lease == 0 || lease >= next_lease)
    throw Error{Code::kProtocol,
                "lease " + std::to_string(lease) + " was given to nobody"};
}

// In a tree, a Check reaches those as well that are out of step.
void RunContext::count_digest(Member& member) const {
  if (member.digests >= checks)
    throw Error{Code::kProtocol, "Digest: nobody asked for it"};
  ++member.digests;
}

void RunContext::note_difference(Member& member, const std::string& what,
                                 std::uint64_t digest, std::uint64_t want) {
  ++report.resyncs;
  member.in_step = false;
  events.write("fault", {{"worker", member.number},
                         {"epoch", state.epoch},
                         {"why", "its replica differs"},
                         {"digest", io::hex(digest)},
                         {"want", io::hex(want)}});
  log(Level::kWarning, "the replica of " + member.describe() + " differs at " +
                           what + ", epoch " + std::to_string(state.epoch + 1) +
                           "; it is sent the state anew");
}

bool RunContext::anybody_but(const Member& member) {
  return std::ranges::any_of(members.workers(), [&](const Member* other) {
    return other->number != member.number;
  });
}

void RunContext::fail(Error error) {
  if (!failure) failure.emplace(std::move(error));
}

void RunContext::note_fault(const Member& member, std::int64_t batch,
                            const std::string& why) {
  ++report.rejected;
  Json fields = {
      {"worker", member.number}, {"epoch", state.epoch}, {"why", why}};
  if (batch >= 0) fields["first"] = batch;
  events.write("fault", std::move(fields));
}

// Two workers, or the only one, have no finite answer: not one host is at
// fault.  Nor is one mini-batch where several are without an answer, or where
// it stands for a slot of a round: the parameters are.
bool RunContext::nobody_can_train(std::int64_t batch, Code code) {
  constexpr std::size_t kFew = 2;
  if (code != Code::kConfig) return false;
  std::set<std::uint64_t> parties, failing;
  for (const Member* member : members.workers()) {
    parties.insert(member->party());
    if (std::cmp_greater_equal(member->rejections, kFew))
      failing.insert(member->party());
  }
  const std::size_t few = std::min(kFew, parties.size());
  if (settings.mode == Mode::kAveraging && batch >= 0 &&
      doubts_[batch].size() >= few)
    return true;
  return doubts_.size() >= kFew && failing.size() >= few;
}

void RunContext::forgive() {
  gone_wrong.reset();
  doubts_.clear();
  for (Member* member : members.present()) {
    member->rejections = 0;
    member->faulty = false;
  }
}

void RunContext::reject(Member& member, std::int64_t batch,
                        const std::string& why, Code code) {
  note_fault(member, batch, why);
  ++member.rejections;
  if (batch < 0) ++member.violations;
  const std::string where = batch < 0 ? "a message"
                                      : "mini-batch " + std::to_string(batch) +
                                            " of epoch " +
                                            std::to_string(state.epoch + 1);
  if (std::exchange(doubts_epoch_, state.epoch) != state.epoch) doubts_.clear();
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
      gone_wrong = Error{code, what};
      return;
    }
    if (all_fail || !anybody_but(member))
      throw Error{code, what + (code == Code::kConfig
                                    ? kRejectionRemedy
                                    : "; look at the storage of the data")};
  }
  if (const auto others = rejections_told_.tell(now))
    log(Level::kWarning, where + " from " + member.describe() +
                             " rejected: " + why +
                             (batch < 0 ? "" : "; it is done again") + *others);
  member.faulty = too_often;
  if (anybody_but(member)) member.retry = now + kRetry;
}

void RunContext::accept(Member& member, const Lease& lease, std::int64_t first,
                        std::int64_t count, std::int64_t examples,
                        double loss_sum, std::size_t bytes, const Json& more) {
  member.rejections = 0;
  member.examples += examples;
  report.batches += static_cast<std::uint64_t>(count);
  report.payload += bytes;
  Json fields = {{"lease", lease.id},
                 {"fence", lease.fence},
                 {"worker", member.number},
                 {"epoch", state.epoch},
                 {"first", first},
                 {"count", count},
                 {"examples", examples},
                 {"loss", loss_sum / static_cast<double>(examples)},
                 {"bytes", bytes}};
  fields.update(more);
  events.write("commit", std::move(fields));
  failpoint("master.after_commit");
}

}  // namespace dl::cluster
