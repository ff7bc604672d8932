#include "libcore/cluster/master/members/shutdown.h"

#include <algorithm>
#include <utility>

#include "libcore/cluster/master/members/member_watch.h"

namespace dl::cluster {

Shutdown::Shutdown(RunContext& context, int code, const std::string& reason,
                   Goes goes)
    : context_(context), goes_(std::move(goes)) {
  stop_.code = code;
  stop_.reason = reason;
  // Whose connection is closed may be on its way back.
  for (Member* member : context_.members.present())
    if (goes_(member->hello.name))
      context_.outgoing.send(*member, stop_.to_message());
}

bool Shutdown::all_left() const {
  for (const Member* member : context_.members.present())
    if (stays(*member)) return false;
  return true;
}

bool Shutdown::stays(const Member& member) const {
  return member.counts() && goes_(member.hello.name);
}

bool Shutdown::flowed_since(double time) const {
  return std::ranges::any_of(context_.members.present(),
                             [&](const Member* member) {
                               return stays(*member) && member->flowed > time;
                             });
}

void Shutdown::tick(double now) {
  for (const auto& [peer, flow] : context_.link.take_flows())
    if (Member* member = context_.members.find(peer))
      Membership::note_flow(*member, flow, now);
  for (const RouterSocket::Ended& ended : context_.link.take_ended())
    if (Member* member = context_.members.find(ended.peer))
      member->closed = now;
  for (Member* member : context_.members.present())
    if (stays(*member) && member->closed > 0 && now - member->closed > kReturn)
      lose(*member, "its connection ended");
}

void Shutdown::lose(const Member& member, const std::string& why) {
  tell_lost(context_, member, why);
  context_.members.remove(std::string(member.peer));
}

void Shutdown::lost_process(const std::string& name, std::int64_t pid,
                            const std::string& how) {
  const Member* member = context_.members.find(name, pid);
  if (member != nullptr) lose(*member, how);
}

void Shutdown::end() {
  for (const Member* member : context_.members.present())
    if (stays(*member))
      tell_lost(context_, *member, "it did not answer the end of the run");
}

void Shutdown::take(const RouterSocket::Incoming& incoming) {
  const MessageType type = incoming.received.message.type;
  if (type == MessageType::kLeave) context_.members.remove(incoming.peer);
  if (type != MessageType::kHello) return;
  try {
    const Hello hello = Hello::from_message(incoming.received.message);
    if (!goes_(hello.name)) return;
    context_.members.remove_former_self(hello);
  } catch (const Error&) {  // no worker of ours
    return;
  }
  Member late;  // it just came, or came back
  late.peer = incoming.peer;
  context_.outgoing.send(late, stop_.to_message());
}

}  // namespace dl::cluster
