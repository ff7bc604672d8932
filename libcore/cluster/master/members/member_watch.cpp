#include "libcore/cluster/master/members/member_watch.h"

#include "libcore/base/number_format.h"
#include "libcore/cluster/master/epoch/phase.h"
#include "libcore/cluster/master/members/stragglers.h"

namespace dl::cluster {

namespace {

constexpr double kLookEvery = 0.05, kCompareEvery = 0.5;  // seconds

// Whether what is learnt depends on who is there: a worker that is back gives
// the same again, and is worth waiting for.
bool depends_on_workers(const Settings& settings) {
  return settings.mode == Mode::kSharing &&
         settings.sharing.staleness.has_value();
}

}  // namespace

void tell_lost(RunContext& context, const Member& member,
               const std::string& why, const std::string& then) {
  ++context.report.lost;
  context.events.write("lost", {{"worker", member.number},
                                {"why", why},
                                {"doing", member.doing},
                                {"epoch", context.state.epoch}});
  context.log(Level::kWarning, member.describe() + " lost: " + why + then);
}

// All members are looked at some times a second, however many messages come.
void MemberWatch::tick() {
  watch_connections();
  if (context_.now < next_look_) return;
  next_look_ = context_.now + kLookEvery;
  for (Member* member : context_.members.present())
    if (member->faulty) put_out(*member);
  watch_signs_of_life();
  context_.members.forget_silent();
  if (context_.now < next_comparison_) return;
  next_comparison_ = context_.now + kCompareEvery;
  watch_stragglers();
  watch_answers();
}

void MemberWatch::lose(Member& member, const std::string& why, bool gone,
                       bool failed) {
  tell_lost(context_, member, why,
            context_.phase && context_.phase->working(member)
                ? "; its work goes back to the queue"
                : "");
  member.in_step = false;
  const std::string peer = member.peer;
  if (context_.phase) context_.phase->release(member, why, failed);
  context_.reduction = {};  // it may be what others could not reach
  if (gone) context_.members.remove(peer);
}

// The others go on without it.
void MemberWatch::put_out(Member& member) {
  Refuse refuse;
  refuse.code = static_cast<int>(Code::kUnavailable);
  const std::string answers = std::to_string(member.rejections);
  refuse.reason =
      member.unfit.empty()
          ? answers + " answers of this worker in a row were rejected"
          : member.unfit;
  refuse.reason += "; look at its host and its device";
  context_.outgoing.send(member, refuse.to_message());
  lose(member,
       member.unfit.empty() ? answers + " of its answers in a row were rejected"
                            : member.unfit,
       true, false);
}

void MemberWatch::watch_connections() {
  for (const RouterSocket::Ended& ended : context_.link.take_ended())
    if (Member* member = context_.members.find(ended.peer)) {
      if (!ended.why.empty())
        lose(*member, ended.why, true, false);
      else
        member->closed = context_.now;
    }
}

void MemberWatch::watch_signs_of_life() {
  for (const auto& [peer, flow] : context_.link.take_flows())
    if (Member* member = context_.members.find(peer))
      Membership::note_flow(*member, flow, context_.now);
  const Limits& limits = context_.limits;
  const double now = context_.now;
  const double closed_after =
      depends_on_workers(context_.settings) ? limits.lost_after : kReturn;
  for (Member* member :
       context_.members.silent(now, limits.lost_after, closed_after))
    lose(*member,
         member->closed > 0 ? "its connection ended"
                            : "nothing heard of it for " +
                                  format("%.1f s", now - member->heard),
         false);
  const auto can_move = [&](const Member& member) {
    return context_.phase && context_.phase->can_move(member);
  };
  for (Member* member :
       context_.members.stuck(now, limits.stuck_after, can_move)) {
    const std::string doing =
        member->doing.empty() ? "" : " (" + member->doing + ")";
    lose(*member,
         "it beats but does not move for " +
             format("%.1f s", now - member->moved) + doing,
         false);
    // One whose line and compute thread are sound after all comes back so.
    context_.outgoing.send(*member, Rejoin{}.to_message());
  }
}

// The others wait for it, or train on what it did not know of.
void MemberWatch::watch_stragglers() {
  for (const Straggler& slow :
       find_stragglers(context_.members.workers(), context_.now)) {
    context_.events.write("straggler", {{"worker", slow.member->number},
                                        {"factor", slow.factor},
                                        {"epoch", context_.state.epoch}});
    context_.log(Level::kWarning, slow.member->describe() + " is " +
                                      format("%.1f", slow.factor) +
                                      "x slower than the median of the others");
  }
}

// Progress is what a worker says of itself; an answer is what it is worth.
void MemberWatch::watch_answers() {
  if (!context_.phase) return;
  const std::vector<Member*> workers = context_.members.workers();
  const Medians medians(workers);
  for (Member* member : workers) {
    const std::int64_t owed = context_.phase->owed_by(*member);
    const double median = medians.of_others(*member);
    if (owed == 0 || !(median > 0)) continue;
    const double silence = Membership::without_answer(*member, context_.now);
    if (silence > longest_without_answer(*member, median, owed,
                                         context_.limits.stuck_after))
      take_for_barren(*member, silence, median);
  }
}

// A sound one that is slow has more time when it is back.
void MemberWatch::take_for_barren(Member& member, double silence,
                                  double median) {
  const std::string why = "it says that it works and has given no answer for " +
                          format("%.1f s", silence) + ", and others need " +
                          format("%.2g s", median) + " for a mini-batch";
  if (++member.times_barren >= kMostBarren) {
    member.unfit =
        why + "; it was so " + std::to_string(kMostBarren) + " times";
    return put_out(member);
  }
  lose(member, why, false, false);
  member.barren = true;
  context_.outgoing.send(member, Rejoin{}.to_message());
}

}  // namespace dl::cluster
