#include "libcore/cluster/master/link/message_sender.h"

#include <utility>

#include "libcore/cluster/master/run_context.h"
#include "libcore/cluster/protocol/message_limits.h"

namespace dl::cluster {

bool MessageSender::send(Member& member, Message message,
                         std::uint64_t feed_number) {
  return send(member, std::make_shared<const Message>(std::move(message)),
              feed_number);
}

bool MessageSender::send(Member& member, const SharedMessage& message,
                         std::uint64_t feed_number) {
  const Envelope envelope{context_.run, member.number, context_.incarnation,
                          ++sequence_, feed_number};
  if (context_.link.send(member.peer, message, envelope)) return true;
  member.retry = context_.now + kRetry;
  return false;
}

std::vector<Member*> MessageSender::tell_all(Message message) {
  const auto shared = std::make_shared<const Message>(std::move(message));
  return tell(shared, 0, shared);
}

std::vector<Member*> MessageSender::tell_all(Message message,
                                             std::uint64_t origin,
                                             Message for_origin) {
  return tell(std::make_shared<const Message>(std::move(message)), origin,
              std::make_shared<const Message>(std::move(for_origin)));
}

std::vector<Member*> MessageSender::tell(const SharedMessage& message,
                                         std::uint64_t origin,
                                         const SharedMessage& for_origin) {
  check_sender(message->type, kFromParent);  // as it is in a tree
  const std::uint64_t number = context_.feed.add(*message);
  std::vector<Member*> missed;
  for (Member* member : context_.members.fed_by_master()) {
    if (!member->in_step) continue;
    // In a tree it goes on to the member's children.
    const bool own = member->number == origin && !context_.feed.keeps();
    if (send(*member, own ? for_origin : message, number)) continue;
    member->in_step = false;
    missed.push_back(member);
  }
  return missed;
}

void MessageSender::refill(Member& member, std::uint64_t after,
                           std::uint64_t upto) {
  if (!member.in_step) return;
  bool sent = true;
  const auto send_one = [&](const FeedItem& item) {
    sent = sent && send(member, item.message, item.number);
  };
  if (!context_.feed.visit(after, upto, send_one) || !sent)
    member.in_step = false;
}

void MessageSender::ask_to_listen(Member& member) {
  if (!std::exchange(member.seat.asked, true))
    send(member, Listen{context_.limits.fan_out}.to_message());
}

void MessageSender::unseat(Member& member) {
  if (member.seat.parent == 0) return;
  member.seat.parent = 0;
  context_.members.set_feeder(member, 0);
  send(member, Place{}.to_message());
}

bool MessageSender::bring_up_to_date(Member& member) {
  if (member.in_step) return true;
  // The State has what waits of the context_.feed; and while it would have to
  // wait itself, it would only grow old.
  context_.link.forget_feed(member.peer);
  if (!context_.link.idle(member.peer)) {
    member.retry = context_.now + kRetry;
    return false;
  }
  if (catch_up(member)) return true;
  // Other messages to it must not be ahead of the State.
  unseat(member);
  if (!send(member, state(), context_.feed.number())) return false;
  member.in_step = true;
  return true;
}

// The same for all who get it at one time.
SharedMessage MessageSender::state() {
  if (auto before = state_.lock(); before &&
                                   state_version_ == context_.state.version &&
                                   state_made_ == context_.now)
    return before;
  State message;
  message.version = context_.state.version;
  message.threshold = context_.state.threshold;
  message.averages = context_.averages;
  message.setbacks = static_cast<std::uint64_t>(context_.state.setbacks);
  const RunState& now = context_.state;
  const std::vector<float> fasgd =
      now.fasgd ? now.fasgd->state() : std::vector<float>();
  const auto made = std::make_shared<const Message>(
      message.with({now.parameters, now.statistics, now.updater_state,
                    now.velocity, fasgd}));
  state_ = made;
  state_version_ = context_.state.version;
  state_made_ = context_.now;
  return made;
}

bool MessageSender::catch_up(Member& member) {
  const std::string had = std::exchange(member.had.run, "");
  // A round of averaging takes as much as the State.
  if (!context_.updates || had.empty() || in_rounds(context_.settings.mode))
    return false;
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
  const std::size_t most = sizeof(float) * context_.state.parameters.size();
  try {
    if (!context_.updates->visit_after(had, member.had.version,
                                       context_.state.version, most, send_one))
      return false;
  } catch (const Error& error) {
    context_.log(Level::kWarning, error.what());
    return false;
  }
  // Running statistics are averaged outside of the context_.log.
  State there;
  there.version = context_.state.version;
  there.averages = context_.averages;
  there.setbacks = static_cast<std::uint64_t>(context_.state.setbacks);
  there.statistics = context_.state.statistics;
  if (!sent || !send(member, there.to_message(), context_.feed.number()))
    return false;
  member.in_step = true;
  context_.events.write("catch_up", {{"worker", member.number},
                                     {"epoch", context_.state.epoch},
                                     {"from", member.had.version},
                                     {"version", context_.state.version}});
  return true;
}

}  // namespace dl::cluster
